package measure

import (
	"strconv"
	"strings"
)

// Figure is a number with its target, if it has one.
type Figure struct {
	What   string  `json:"what"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit,omitzero"`
	Target string  `json:"target,omitzero"`
	// Missed says that the target is not met.
	Missed bool `json:"missed,omitzero"`
}

// Plain is a figure without a target.
func Plain(what string, value float64, unit string) Figure {
	return Figure{What: what, Value: Rounded(value), Unit: unit}
}

// AtMost is a figure that is met up to its target.
func AtMost(what string, value float64, unit string, target float64) Figure {
	f := Plain(what, value, unit)
	f.Target, f.Missed = "at most "+Number(target), f.Value > target
	return f
}

// AtLeast is a figure that is met from its target on.
func AtLeast(what string, value float64, unit string, target float64) Figure {
	f := Plain(what, value, unit)
	f.Target, f.Missed = "at least "+Number(target), f.Value < target
	return f
}

// String says it as a table does: "x native 2.1 (at most 1.8, **missed**)".
func (f Figure) String() string {
	var b strings.Builder
	b.WriteString(f.What + " " + Number(f.Value))
	if f.Unit != "" {
		b.WriteString(" " + f.Unit)
	}
	if f.Target != "" {
		b.WriteString(" (" + f.Target)
		if f.Missed {
			b.WriteString(", **missed**")
		}
		b.WriteString(")")
	}
	return b.String()
}

// Number writes a number with commas between the thousands.
func Number(v float64) string {
	text := strconv.FormatFloat(v, 'f', -1, 64)
	whole, _, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Filled is a number as it stands in a column: nothing for none.
func Filled(v float64) string {
	if v == 0 {
		return ""
	}
	return Number(v)
}

// Cells are the figures of one row as they stand in a column, and how many of them miss their target.
func Cells(figures []Figure) (text string, missed int) {
	all := make([]string, len(figures))
	for i, f := range figures {
		all[i] = f.String()
		if f.Missed {
			missed++
		}
	}
	return strings.Join(all, "; "), missed
}
