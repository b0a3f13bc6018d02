package offline

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
)

// parameters are the arguments that a tool takes.
type parameters struct {
	schema host.Schema  // nil takes any object
	list   []*parameter // in the order of the schema
}

// parameter is one argument, with what is known of it.
type parameter struct {
	name     string
	required bool
	types    []string // empty for any
	enum     []jsontext.Value
	items    *parameter // what the elements of an array are; nil for any
}

// schemaMembers is what is read of a JSON Schema to fill arguments in. The whole of it is the schema's own business.
type schemaMembers struct {
	Type       jsontext.Value   `json:"type"`
	Enum       []jsontext.Value `json:"enum"`
	Const      jsontext.Value   `json:"const"`
	Items      jsontext.Value   `json:"items"`
	Properties jsontext.Value   `json:"properties"`
	Required   []string         `json:"required"`
}

// readParameters reads the schema of a tool's arguments. It is an error where its document is none.
func readParameters(schema host.Schema) (*parameters, error) {
	if schema == nil {
		return &parameters{}, nil
	}
	var top schemaMembers
	if err := json.Unmarshal(schema.JSON(), &top); err != nil {
		return nil, err
	}
	p := &parameters{schema: schema}
	for name, raw := range members(top.Properties) {
		one := newParameter(name, raw)
		one.required = slices.Contains(top.Required, name)
		p.list = append(p.list, one)
	}
	for _, name := range top.Required {
		if p.named(name) == nil {
			p.list = append(p.list, &parameter{name: name, required: true})
		}
	}
	return p, nil
}

func (p *parameters) named(name string) *parameter {
	for _, one := range p.list {
		if one.name == name {
			return one
		}
	}
	return nil
}

// fits says whether arguments hold against the whole schema.
func (p *parameters) fits(arguments jsontext.Value) bool {
	return p.schema == nil || p.schema.Validate(arguments) == nil
}

// members are the members of a JSON object as they stand in it. What is no object has none.
func members(object jsontext.Value) iter.Seq2[string, jsontext.Value] {
	return func(yield func(string, jsontext.Value) bool) {
		if object.Kind() != '{' {
			return
		}
		dec := jsontext.NewDecoder(bytes.NewReader(object))
		if _, err := dec.ReadToken(); err != nil {
			return
		}
		for dec.PeekKind() == '"' {
			token, err := dec.ReadToken()
			if err != nil {
				return
			}
			name := token.String()
			value, err := dec.ReadValue()
			if err != nil || !yield(name, value.Clone()) {
				return
			}
		}
	}
}

// newParameter reads the schema of one argument. One that is no object, such as true, takes anything.
func newParameter(name string, raw jsontext.Value) *parameter {
	p := &parameter{name: name}
	var d schemaMembers
	if json.Unmarshal(raw, &d) != nil {
		return p
	}
	var one string
	if json.Unmarshal(d.Type, &one) == nil {
		p.types = []string{one}
	} else if json.Unmarshal(d.Type, &p.types) != nil {
		p.types = nil
	}
	p.enum = d.Enum
	if d.Const != nil {
		p.enum = []jsontext.Value{d.Const}
	}
	if d.Items.Kind() == '{' {
		p.items = newParameter(name, d.Items)
	}
	return p
}

// may says whether a value of a type fits. Where the schema names no type, every one does.
func (p *parameter) may(kind string) bool { return len(p.types) == 0 || slices.Contains(p.types, kind) }

// is says whether the type is the first of those named that is not null.
func (p *parameter) is(kinds ...string) bool {
	for _, t := range p.types {
		if t != "null" {
			return slices.Contains(kinds, t)
		}
	}
	return false
}

// free says whether any text fits.
func (p *parameter) free() bool {
	return len(p.enum) == 0 && (p.is("string") || len(p.types) == 0)
}

// maxEnum is how many values of an enum are listed where one is asked for.
const maxEnum = 8

// describe says what is wanted, as in "a whole number".
func (p *parameter) describe() string {
	if len(p.enum) > 0 {
		var names []string
		for _, v := range p.enum[:min(len(p.enum), maxEnum)] {
			names = append(names, enumText(v))
		}
		if more := len(p.enum) - maxEnum; more > 0 {
			names = append(names, "others")
		}
		return joined(names, "or")
	}
	switch {
	case p.is("string"):
		return "a text"
	case p.is("integer"):
		return "a whole number"
	case p.is("number"):
		return "a number"
	case p.is("boolean"):
		return "true or false"
	case p.is("array") && p.items != nil && len(p.items.enum) > 0:
		return "a list of " + p.items.describe()
	case p.is("array"):
		return "a list"
	case p.is("object"):
		return "a JSON object"
	}
	return "a value"
}

// sample is a value as somebody may write it.
func (p *parameter) sample() string {
	if len(p.enum) > 0 {
		return written(p.enum[0])
	}
	switch {
	case p.is("integer"), p.is("number"):
		return "1"
	case p.is("boolean"):
		return "true"
	case p.is("object"):
		return "{…}"
	case p.is("array"):
		if p.items == nil || p.items.is("array", "object") {
			return "[…]"
		}
		return p.items.sample() + "," + p.items.sample()
	}
	return `"…"`
}

// enumText is a value of an enum as it stands in running text.
func enumText(v jsontext.Value) string {
	var text string
	if v.Kind() == '"' && json.Unmarshal(v, &text) == nil {
		return text
	}
	return string(v)
}

// written is a value as it may stand behind name=.
func written(v jsontext.Value) string {
	if text := enumText(v); v.Kind() == '"' && !strings.ContainsFunc(text, func(r rune) bool { return !wordRune(r) }) && text != "" {
		return text
	}
	return string(v)
}

// joined lists names, the last behind a word of its own.
func joined(names []string, word string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " " + word + " " + names[len(names)-1]
}
