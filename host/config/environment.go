package config

import (
	"fmt"
	"regexp"
)

// Variable is a variable of the environment that the config names. Its value is asked for by [Config.Build] and kept
// nowhere.
type Variable struct {
	Name string
	// Line and Column are where the config names it; 0 where it does not.
	Line, Column int

	path string
}

// NamedVariable is the variable of a name that did not come from a file. A text that is no name is refused, and is not in
// the error: it may be the secret itself.
func NamedVariable(name string) (Variable, error) {
	if !variableForm.MatchString(name) {
		return Variable{}, fmt.Errorf("the name of an environment variable was wanted, in letters, digits and _, and a text of %d characters is there: name the variable that holds the value, and not the value", len(name))
	}
	return Variable{Name: name}, nil
}

var variableForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// variable reads the name of a variable.
func (d *decoder) variable(n *node) (Variable, bool) {
	const wanted = "the name of an environment variable"
	if !d.isText(n, wanted) {
		return Variable{}, false
	}
	if !variableForm.MatchString(n.text) {
		// What is there may be the secret itself, so it is not repeated.
		d.fault(n, "name the variable that holds the value, such as OPENAI_API_KEY, and not the value",
			"%s was wanted, in letters, digits and _, and a text of %d characters is there", wanted, len(n.text))
		return Variable{}, false
	}
	return Variable{Name: n.text, Line: n.line, Column: n.column, path: n.path}, true
}

// value asks for a variable. One that has no value is a fault.
func (c *collector) value(v Variable, getenv func(string) string, what string) string {
	text := getenv(v.Name)
	if text == "" {
		c.add(v.Line, v.Column, v.path, "set it, or name another one",
			"the environment variable %s, which holds %s, is not set or empty", v.Name, what)
	}
	return text
}
