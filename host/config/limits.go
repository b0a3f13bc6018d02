package config

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/host/wasm/engine"
)

// unlimited is the value that takes a limit away.
const unlimited = "unlimited"

// limitKeys are the keys of limits.
var limitKeys = []key[wasm.Limits]{
	{"module", func(d *decoder, n *node, l *wasm.Limits) { l.Module = d.size(n) }},
	{"memory", func(d *decoder, n *node, l *wasm.Limits) { l.Memory = d.size(n) }},
	{"input", func(d *decoder, n *node, l *wasm.Limits) { l.Input = d.size(n) }},
	{"output", func(d *decoder, n *node, l *wasm.Limits) { l.Output = d.size(n) }},
	{"text", func(d *decoder, n *node, l *wasm.Limits) { l.Text = d.size(n) }},
	{"state", func(d *decoder, n *node, l *wasm.Limits) { l.State = d.size(n) }},
	{"session_state", func(d *decoder, n *node, l *wasm.Limits) { l.SessionState = d.size(n) }},
	{"cpu", func(d *decoder, n *node, l *wasm.Limits) { l.CPU, l.Fuel = d.cpu(n) }},
	{"stack", func(d *decoder, n *node, l *wasm.Limits) { l.Stack = d.size(n) }},
	{"vars", func(d *decoder, n *node, l *wasm.Limits) { l.Vars = d.size(n) }},
	{"start", func(d *decoder, n *node, l *wasm.Limits) { l.Start = d.duration(n) }},
	{"init", func(d *decoder, n *node, l *wasm.Limits) { l.Init = d.duration(n) }},
	{"log_lines", func(d *decoder, n *node, l *wasm.Limits) { l.LogLines = d.count(n) }},
	{"log_line", func(d *decoder, n *node, l *wasm.Limits) { l.LogLine = int(d.size(n)) }},
	{"tools", func(d *decoder, n *node, l *wasm.Limits) { l.Tools = d.count(n) }},
	{"tool_schema", func(d *decoder, n *node, l *wasm.Limits) { l.ToolSchema = d.size(n) }},
	{"call_tool", func(d *decoder, n *node, l *wasm.Limits) { l.CallTool = d.duration(n) }},
	{"next_calls", func(d *decoder, n *node, l *wasm.Limits) { l.NextCalls = d.count(n) }},
	{"depth", func(d *decoder, n *node, l *wasm.Limits) { l.Depth = d.count(n) }},
	{"kv_value", func(d *decoder, n *node, l *wasm.Limits) { l.KVValue = d.size(n) }},
	{"kv_total", func(d *decoder, n *node, l *wasm.Limits) { l.KVTotal = d.size(n) }},
	{"kv_keys", func(d *decoder, n *node, l *wasm.Limits) { l.KVKeys = d.count(n) }},
	{"events", func(d *decoder, n *node, l *wasm.Limits) { l.Events = d.count(n) }},
	{"file_writes", func(d *decoder, n *node, l *wasm.Limits) { l.FileWrites = d.size(n) }},
	{"http_requests", func(d *decoder, n *node, l *wasm.Limits) { l.HTTPRequests = d.count(n) }},
	{"http_body", func(d *decoder, n *node, l *wasm.Limits) { l.HTTPBody = d.size(n) }},
	{"http_time", func(d *decoder, n *node, l *wasm.Limits) { l.HTTPTime = d.duration(n) }},
	{"instances", func(d *decoder, n *node, l *wasm.Limits) { l.Instances = d.count(n) }},
	{"faults", func(d *decoder, n *node, l *wasm.Limits) { l.Faults = d.count(n) }},
	{"rest", func(d *decoder, n *node, l *wasm.Limits) { l.Rest = d.boundedDuration(n) }},
}

var sizeForm = regexp.MustCompile(`^([0-9]+) ?([A-Za-z]+)$`)

var sizeUnits = map[string]int64{"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

// size reads a size in bytes, or unlimited; 0 where it is wrong.
func (d *decoder) size(n *node) int64 {
	if n.kind == kindText && n.text == unlimited {
		return engine.Unlimited
	}
	return d.amount(n, "a size such as 64MiB, or unlimited,", []string{unlimited})
}

// boundedSize is size for what cannot be unlimited.
func (d *decoder) boundedSize(n *node) int64 { return d.amount(n, "a size such as 64KiB", nil) }

// amount reads a size in bytes. words are what may stand there beside it, for hints.
func (d *decoder) amount(n *node, wanted string, words []string) int64 {
	if n.kind == kindNumber {
		d.fault(n, "add one of B, KiB, MiB, GiB", "%s was wanted, and %s has no unit", wanted, n.text)
		return 0
	}
	if !d.is(n, kindText, wanted) {
		return 0
	}
	parts := sizeForm.FindStringSubmatch(n.text)
	if parts == nil {
		d.fault(n, didYouMean(n.text, words), "%s was wanted, and %s is there", wanted, n.have())
		return 0
	}
	unit, ok := sizeUnits[parts[2]]
	if !ok {
		d.fault(n, unitHint(parts[1], parts[2]), "%s was wanted, and %q is none of the units B, KiB, MiB, GiB", wanted, parts[2])
		return 0
	}
	amount, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || amount > math.MaxInt64/unit {
		d.fault(n, hintIf(words, "write unlimited if that is meant"), "%s was wanted, and %s is too much", wanted, n.have())
		return 0
	}
	if amount == 0 {
		d.fault(n, hintIf(words, "write unlimited to take the limit away"), "%s was wanted, and %s is nothing", wanted, n.have())
		return 0
	}
	return amount * unit
}

// hintIf is a hint that speaks of unlimited, where that may be written.
func hintIf(words []string, hint string) string {
	if words == nil {
		return ""
	}
	return hint
}

func unitHint(amount, unit string) string {
	for _, u := range []string{"KiB", "MiB", "GiB", "B"} {
		if strings.EqualFold(unit, u) || strings.EqualFold(unit, u[:1]) || strings.EqualFold(unit, u[:1]+"B") {
			return "did you mean " + amount + u + "?"
		}
	}
	return ""
}

// duration reads a time, or unlimited; 0 where it is wrong.
func (d *decoder) duration(n *node) time.Duration {
	if n.kind == kindText && n.text == unlimited {
		return engine.Unlimited
	}
	return d.time(n, "a time such as 200ms, or unlimited,", []string{unlimited})
}

var fuelForm = regexp.MustCompile(`^([0-9]+)([kMG]?) ?fuel$`)

var fuelUnits = map[string]int64{"": 1, "k": 1e3, "M": 1e6, "G": 1e9}

// cpu reads a time or an amount of fuel, or unlimited; 0 for both where it is wrong.
func (d *decoder) cpu(n *node) (time.Duration, int64) {
	const wanted = "a time such as 200ms, an amount such as 50M fuel, or unlimited,"
	parts := fuelForm.FindStringSubmatch(n.text)
	switch {
	case n.kind != kindText || parts == nil && !strings.Contains(n.text, "fuel"):
		if n.kind == kindText && n.text == unlimited {
			return engine.Unlimited, 0
		}
		return d.time(n, wanted, []string{unlimited}), 0
	case parts == nil:
		d.fault(n, "write a whole number, one of k, M, G or nothing, and fuel", "%s was wanted, and %s is there", wanted, n.have())
		return 0, 0
	}
	amount, err := strconv.ParseInt(parts[1], 10, 64)
	switch {
	case err != nil || amount > math.MaxInt64/fuelUnits[parts[2]]:
		d.fault(n, "write unlimited if that is meant", "%s was wanted, and %s is too much", wanted, n.have())
	case amount == 0:
		d.fault(n, "write unlimited to take the limit away", "%s was wanted, and %s is nothing", wanted, n.have())
	default:
		return 0, amount * fuelUnits[parts[2]]
	}
	return 0, 0
}

// boundedDuration is duration for what cannot be unlimited.
func (d *decoder) boundedDuration(n *node) time.Duration { return d.time(n, "a time such as 30s", nil) }

// time reads a time. words are what may stand there beside it, for hints.
func (d *decoder) time(n *node, wanted string, words []string) time.Duration {
	if n.kind == kindNumber {
		d.fault(n, "add one of us, ms, s, m, h", "%s was wanted, and %s has no unit", wanted, n.text)
		return 0
	}
	if !d.is(n, kindText, wanted) {
		return 0
	}
	t, err := time.ParseDuration(n.text)
	if err != nil {
		hint := didYouMean(n.text, words)
		if hint == "" {
			hint = "the units are us, ms, s, m, h"
		}
		d.fault(n, hint, "%s was wanted, and %s is there", wanted, n.have())
		return 0
	}
	if t <= 0 {
		d.fault(n, hintIf(words, "write unlimited to take the limit away"), "%s was wanted, and %s is there", wanted, n.have())
		return 0
	}
	return t
}

// count reads a whole number; 0 where it is wrong.
func (d *decoder) count(n *node) int {
	const wanted = "a whole number of at least 1, or unlimited,"
	if n.kind == kindText && n.text == unlimited {
		return engine.Unlimited
	}
	if n.kind == kindText {
		d.fault(n, didYouMean(n.text, []string{unlimited}), "%s was wanted, and %s is there", wanted, n.have())
		return 0
	}
	if i := d.whole(n, 1, wanted); i != nil {
		return *i
	}
	return 0
}
