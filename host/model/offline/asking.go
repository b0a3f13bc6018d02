package offline

import (
	"fmt"
	"strings"
)

// asks says what a call lacks, and how to say it.
func (f *filling) asks() string {
	switch {
	case f.takes == nil:
		return fmt.Sprintf("I cannot call %s: its parameters are no JSON Schema.", f.tool.name)
	case f.refused != nil:
		return fmt.Sprintf("I cannot call %s like that: the arguments `%s` do not fit its schema.", f.tool.name, f.refused)
	}
	var b strings.Builder
	if len(f.missing) > 0 {
		var names []string
		for _, p := range f.missing {
			names = append(names, p.name+" ("+p.describe()+")")
		}
		fmt.Fprintf(&b, "To call %s I need %s.", f.tool.name, joined(names, "and"))
	} else {
		fmt.Fprintf(&b, "I cannot call %s like that.", f.tool.name)
	}
	for _, one := range f.unfit {
		b.WriteString(" " + one.reason + ".")
	}
	b.WriteString(" Say it like this: `" + f.example() + "`")
	return b.String()
}

// example is a message that would do: what was understood, and a sample for what was not.
func (f *filling) example() string {
	parts := []string{f.tool.name}
	for _, p := range f.takes.list {
		switch v := f.values[p.name]; {
		case v != nil:
			parts = append(parts, p.name+"="+string(v))
		case p.required || !f.open(p):
			parts = append(parts, p.name+"="+p.sample())
		}
	}
	return strings.Join(parts, " ")
}
