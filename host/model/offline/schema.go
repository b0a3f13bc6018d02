package offline

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// parameters are the arguments that a tool takes.
type parameters struct {
	resolved *jsonschema.Resolved // nil takes any object
	list     []*parameter         // in the order of the schema
}

// parameter is one argument, with what is known of it.
type parameter struct {
	name     string
	required bool
	types    []string // empty for any
	enum     []jsontext.Value
	items    *parameter // what the elements of an array are; nil for any
}

// readParameters reads the schema of a tool's arguments. It is an error where that is none.
func readParameters(raw []byte) (*parameters, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return &parameters{}, nil
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(raw, &schema); err != nil {
		return nil, err
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil, err
	}
	p := &parameters{resolved: resolved}
	for _, name := range propertyNames(raw) {
		one := newParameter(name, schema.Properties[name])
		one.required = slices.Contains(schema.Required, name)
		p.list = append(p.list, one)
	}
	for _, name := range schema.Required {
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
	var object map[string]any
	if json.Unmarshal(arguments, &object) != nil {
		return false
	}
	return p.resolved == nil || p.resolved.Validate(object) == nil
}

// propertyNames are the names in properties as they stand in the schema: its Go form has them in no order.
func propertyNames(raw []byte) []string {
	var top struct {
		Properties jsontext.Value `json:"properties"`
	}
	if json.Unmarshal(raw, &top) != nil || top.Properties.Kind() != '{' {
		return nil
	}
	var names []string
	dec := jsontext.NewDecoder(bytes.NewReader(top.Properties))
	if _, err := dec.ReadToken(); err != nil {
		return nil
	}
	for dec.PeekKind() == '"' {
		token, err := dec.ReadToken()
		if err != nil {
			return names
		}
		names = append(names, token.String())
		if dec.SkipValue() != nil {
			return names
		}
	}
	return names
}

func newParameter(name string, s *jsonschema.Schema) *parameter {
	p := &parameter{name: name}
	if s == nil {
		return p
	}
	p.types = s.Types
	if s.Type != "" {
		p.types = []string{s.Type}
	}
	values := s.Enum
	if s.Const != nil {
		values = []any{*s.Const}
	}
	for _, v := range values {
		if raw, err := json.Marshal(v, json.Deterministic(true)); err == nil {
			p.enum = append(p.enum, raw)
		}
	}
	if s.Items != nil {
		p.items = newParameter(name, s.Items)
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
