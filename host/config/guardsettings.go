package config

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/host/middleware"
)

var loggingKeys = tagged(guardTag,
	key[middleware.LoggingConfig]{"content", func(d *decoder, n *node, c *middleware.LoggingConfig) { c.Content = d.boolean(n) }},
	key[middleware.LoggingConfig]{"redact", func(d *decoder, n *node, c *middleware.LoggingConfig) { readMapping(d, n, redactKeys, &c.Redact) }},
)

// redactKeys are the keys of redact.
var redactKeys = []key[middleware.RedactConfig]{
	{"keys", func(d *decoder, n *node, c *middleware.RedactConfig) {
		c.Keys = d.atLeastOne(n, "a list of words", func(n *node) (string, bool) { return d.line(n, "a word of a key") })
	}},
	{"patterns", func(d *decoder, n *node, c *middleware.RedactConfig) {
		d.words(n, "a list of regular expressions", func(n *node) (string, bool) {
			re := d.expression(n)
			if re != nil {
				c.Patterns = append(c.Patterns, re)
			}
			return n.text, re != nil
		})
	}},
	{"max_value", func(d *decoder, n *node, c *middleware.RedactConfig) { c.MaxValue = int(d.size(n)) }},
}

var piiKeys = tagged(guardTag,
	key[middleware.PIIConfig]{"detectors", func(d *decoder, n *node, c *middleware.PIIConfig) {
		if n.kind == kindList && len(n.items) == 0 {
			d.fault(n, "list one, or remove the key for all of them", "the list is empty")
		}
		seen := map[string]bool{}
		d.list(n, "a list of detectors", func(n *node) {
			for _, found := range d.detectors(n) {
				if seen[found.Label()] {
					d.fault(n, "remove one of them", "the detector of %s stands twice", found.Label())
					return
				}
				seen[found.Label()] = true
				c.Detectors = append(c.Detectors, found)
			}
		})
	}},
	key[middleware.PIIConfig]{"input", func(d *decoder, n *node, c *middleware.PIIConfig) { c.Input = d.piiAction(n) }},
	key[middleware.PIIConfig]{"tool_results", func(d *decoder, n *node, c *middleware.PIIConfig) { c.ToolResults = d.piiAction(n) }},
	key[middleware.PIIConfig]{"output", func(d *decoder, n *node, c *middleware.PIIConfig) { c.Output = d.piiAction(n) }},
	key[middleware.PIIConfig]{"keep_instructions", func(d *decoder, n *node, c *middleware.PIIConfig) { c.KeepInstructions = d.boolean(n) }},
)

func (d *decoder) piiAction(n *node) middleware.PIIAction {
	word, _ := d.oneOf(n, string(middleware.PIIRedact), string(middleware.PIIBlock), string(middleware.PIIPass))
	return middleware.PIIAction(word)
}

// allDetectors is the word for all detectors that have a name.
const allDetectors = "all"

// detectorNames are the words for detectors, in the order of [middleware.AllDetectors].
func detectorNames() []string {
	names := []string{allDetectors}
	for _, one := range middleware.AllDetectors() {
		names = append(names, strings.ToLower(one.Label()))
	}
	return names
}

// detectors reads one entry of the list: a word, or a pattern of the config's own.
func (d *decoder) detectors(n *node) []middleware.Detector {
	if n.kind == kindMapping {
		var p pattern
		before := len(d.faults)
		readMapping(d, n, patternKeys, &p)
		for _, name := range namesOf(patternKeys) {
			d.require(n, "the detector", name, "it, as in {label: TICKET, pattern: 'T-[0-9]{6}', max_bytes: 8}")
		}
		if len(d.faults) > before {
			return nil
		}
		one, err := middleware.Pattern(p.label, p.expression, p.maxBytes)
		if err != nil {
			d.faultAt(n, "pattern", "", "%v", err)
			return nil
		}
		return []middleware.Detector{one}
	}
	word, ok := d.oneOf(n, detectorNames()...)
	if !ok {
		return nil
	}
	return slices.DeleteFunc(middleware.AllDetectors(), func(one middleware.Detector) bool {
		return word != allDetectors && !strings.EqualFold(one.Label(), word)
	})
}

// pattern is a detector of the config's own.
type pattern struct {
	label      string
	expression *regexp.Regexp
	maxBytes   int
}

// patternKeys are the keys of a detector that is a mapping.
var patternKeys = []key[pattern]{
	{"label", func(d *decoder, n *node, p *pattern) {
		var ok bool
		if p.label, ok = d.line(n, "a label such as TICKET"); ok && strings.ContainsAny(p.label, "[]") {
			d.fault(n, "the brackets are put around it", "a label without brackets was wanted, and %s is there", n.have())
		}
	}},
	{"pattern", func(d *decoder, n *node, p *pattern) { p.expression = d.expression(n) }},
	{"max_bytes", func(d *decoder, n *node, p *pattern) {
		const most = 1024
		if p.maxBytes = d.atLeast(n, 1); p.maxBytes > most {
			d.fault(n, "", "a whole number from 1 to %d was wanted, and %s is there", most, n.text)
		}
	}},
}

var permissionsKeys = tagged(guardTag,
	key[middleware.PermissionsConfig]{"allow", func(d *decoder, n *node, c *middleware.PermissionsConfig) { c.Allow = d.toolRules(n) }},
	key[middleware.PermissionsConfig]{"deny", func(d *decoder, n *node, c *middleware.PermissionsConfig) { c.Deny = d.toolRules(n) }},
	key[middleware.PermissionsConfig]{"end_run", func(d *decoder, n *node, c *middleware.PermissionsConfig) { c.EndRun = d.boolean(n) }},
)

// toolRules reads a list of rules. An empty one would not say what it seems to.
func (d *decoder) toolRules(n *node) []middleware.ToolRule {
	if n.kind == kindList && len(n.items) == 0 {
		d.fault(n, "list a tool, or remove the key", "the list is empty")
	}
	var rules []middleware.ToolRule
	d.list(n, "a list of tools", func(n *node) {
		var r middleware.ToolRule
		if n.kind == kindMapping {
			readMapping(d, n, ruleKeys, &r)
			if len(n.entries) == 0 {
				d.fault(n, `write "*" if all tools are meant`, "the rule is empty")
			}
		} else {
			r.Tool, _ = d.line(n, `a tool's name, a pattern such as "get_*", or a mapping of tool and source,`)
		}
		rules = append(rules, r)
	})
	return rules
}

// ruleKeys are the keys of a rule that is a mapping.
var ruleKeys = []key[middleware.ToolRule]{
	{"tool", func(d *decoder, n *node, r *middleware.ToolRule) {
		r.Tool, _ = d.line(n, `a tool's name, or a pattern such as "get_*",`)
	}},
	{"source", func(d *decoder, n *node, r *middleware.ToolRule) {
		r.Source, _ = d.line(n, "a source id, or a pattern,")
	}},
}

var breakerKeys = tagged(guardTag,
	key[middleware.BreakerConfig]{"refuse_at", func(d *decoder, n *node, c *middleware.BreakerConfig) { c.RefuseAt = d.count(n) }},
	key[middleware.BreakerConfig]{"end_at", func(d *decoder, n *node, c *middleware.BreakerConfig) { c.EndAt = d.count(n) }},
)

var errorLimitsKeys = tagged(guardTag,
	key[middleware.ErrorLimitsConfig]{"consecutive", func(d *decoder, n *node, c *middleware.ErrorLimitsConfig) { c.Consecutive = d.count(n) }},
	key[middleware.ErrorLimitsConfig]{"total", func(d *decoder, n *node, c *middleware.ErrorLimitsConfig) { c.Total = d.count(n) }},
)

// overflowKeys is a function, as strategies are.
func overflowKeys() []key[middleware.OverflowConfig] {
	return tagged(guardTag,
		key[middleware.OverflowConfig]{"compactor", func(d *decoder, n *node, c *middleware.OverflowConfig) { c.Compactor = d.strategy(n) }},
	)
}

var retryKeys = tagged(guardTag,
	key[middleware.RetryConfig]{"max_attempts", func(d *decoder, n *node, c *middleware.RetryConfig) { c.MaxAttempts = d.atLeast(n, 1) }},
	key[middleware.RetryConfig]{"base_delay", func(d *decoder, n *node, c *middleware.RetryConfig) { c.BaseDelay = d.boundedDuration(n) }},
	key[middleware.RetryConfig]{"max_delay", func(d *decoder, n *node, c *middleware.RetryConfig) { c.MaxDelay = d.boundedDuration(n) }},
)

var budgetKeys = tagged(guardTag,
	key[middleware.BudgetConfig]{"run", func(d *decoder, n *node, c *middleware.BudgetConfig) { readMapping(d, n, spendingKeys, &c.Run) }},
	key[middleware.BudgetConfig]{"session", func(d *decoder, n *node, c *middleware.BudgetConfig) { readMapping(d, n, spendingKeys, &c.Session) }},
)

// spendingKeys are the keys of run and session in a budget.
var spendingKeys = []key[middleware.Limits]{
	{"input_tokens", func(d *decoder, n *node, l *middleware.Limits) { l.InputTokens = int64(d.count(n)) }},
	{"output_tokens", func(d *decoder, n *node, l *middleware.Limits) { l.OutputTokens = int64(d.count(n)) }},
	{"total_tokens", func(d *decoder, n *node, l *middleware.Limits) { l.TotalTokens = int64(d.count(n)) }},
	{"model_calls", func(d *decoder, n *node, l *middleware.Limits) { l.ModelCalls = int64(d.count(n)) }},
	{"tool_calls", func(d *decoder, n *node, l *middleware.Limits) { l.ToolCalls = int64(d.count(n)) }},
}

var timeoutsKeys = tagged(guardTag,
	key[middleware.TimeoutsConfig]{"tool", func(d *decoder, n *node, c *middleware.TimeoutsConfig) { c.Tool = d.duration(n) }},
	key[middleware.TimeoutsConfig]{"tools", func(d *decoder, n *node, c *middleware.TimeoutsConfig) {
		c.Tools = map[string]time.Duration{}
		d.byName(n, "a mapping of tools", func(name string, n *node) { c.Tools[name] = d.duration(n) })
	}},
	key[middleware.TimeoutsConfig]{"model", func(d *decoder, n *node, c *middleware.TimeoutsConfig) { c.Model = d.duration(n) }},
	key[middleware.TimeoutsConfig]{"idle", func(d *decoder, n *node, c *middleware.TimeoutsConfig) { c.Idle = d.duration(n) }},
)
