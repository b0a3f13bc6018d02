package main

import (
	"regexp"
	"strings"
)

// presets are rules that are ready to use.
var presets = map[string]rule{
	"email":      {Pattern: regexp.MustCompile(`[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}\b`)},
	"ip_address": {Pattern: regexp.MustCompile(`\b(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)\b`)},
	"us_ssn":     {Pattern: regexp.MustCompile(`\b\d{3}-\d{2}-\d{4}\b`), valid: ssn},
	"api_key":    {Pattern: regexp.MustCompile(`\b(?:sk-[A-Za-z0-9_-]{16,200}|gh[pousr]_[A-Za-z0-9]{36,200}|AKIA[0-9A-Z]{16}|xox[abprs]-[A-Za-z0-9-]{10,200})\b`)},
	"credit_card": {
		Pattern: regexp.MustCompile(`\b\d(?:[ -]?\d){12,18}\b`), valid: luhn,
	},
	"iban": {Pattern: regexp.MustCompile(`\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{1,4}){3,8}\b`), valid: iban},
}

// ssn leaves out numbers that are never given.
func ssn(match string) bool {
	return match[:3] != "000" && match[:3] != "666" && match[0] != '9' && match[4:6] != "00" && match[7:] != "0000"
}

// luhn reports whether the digits end with their check digit.
func luhn(match string) bool {
	sum, double := 0, false
	for i := len(match) - 1; i >= 0; i-- {
		c := match[i]
		if c < '0' || c > '9' {
			continue
		}
		d := int(c - '0')
		if double {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum, double = sum+d, !double
	}
	return sum%10 == 0
}

// iban reports whether the number has the right check digits, as ISO 7064 computes them.
func iban(match string) bool {
	text := strings.ReplaceAll(match, " ", "")
	if len(text) < 15 || len(text) > 34 {
		return false
	}
	rest := 0
	for _, c := range text[4:] + text[:4] {
		if c >= 'A' {
			rest = (rest*100 + int(c-'A') + 10) % 97
		} else {
			rest = (rest*10 + int(c-'0')) % 97
		}
	}
	return rest == 1
}

// matches are the places of a text at which the rule matches.
func (r *rule) matches(text string) [][]int {
	all := r.Pattern.FindAllStringIndex(text, -1)
	if r.valid == nil {
		return all
	}
	kept := all[:0]
	for _, at := range all {
		if r.valid(text[at[0]:at[1]]) {
			kept = append(kept, at)
		}
	}
	return kept
}

// redacted is a text with everything replaced that the rule matches, and whether there was anything.
func (r *rule) redacted(text string) (string, bool) {
	all := r.matches(text)
	if len(all) == 0 {
		return text, false
	}
	var b strings.Builder
	from := 0
	for _, at := range all {
		b.WriteString(text[from:at[0]])
		b.WriteString(r.Replace)
		from = at[1]
	}
	b.WriteString(text[from:])
	return b.String(), true
}

// verdict is what the rules make of a text.
type verdict struct {
	text    string
	changed bool
	blocked *rule
}

// judge has all rules of one side look at a text.
func (c *config) judge(text string, applies func(*rule) bool) verdict {
	v := verdict{text: text}
	for i := range c.Rules {
		r := &c.Rules[i]
		if !applies(r) {
			continue
		}
		if r.Block {
			if len(r.matches(text)) > 0 {
				v.blocked = r
				return v
			}
			continue
		}
		text, changed := r.redacted(v.text)
		v.text, v.changed = text, v.changed || changed
	}
	return v
}

func onRequest(r *rule) bool  { return r.Request }
func onResponse(r *rule) bool { return r.Response }

// looks reports whether any rule looks at one side.
func (c *config) looks(applies func(*rule) bool) bool {
	for i := range c.Rules {
		if applies(&c.Rules[i]) {
			return true
		}
	}
	return false
}
