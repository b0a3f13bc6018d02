package schema

import (
	"encoding"
	stdjson "encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// For makes the schema of a Go type: a struct's fields by their json tags, with the text of a jsonschema tag as a field's
// description. A field is required unless its json tag says omitempty or omitzero, and other members than the fields are
// not allowed. A pointer and a slice may also be null. []byte is base64 text, a type that marshals to text is a string,
// and one that marshals itself to JSON may be anything.
//
// Types that contain themselves, and those that JSON cannot hold, are refused with [ErrType]; the error names the field.
// JSON schemas of types that contain themselves can be written by hand, for [Parse].
func For[T any]() (*Schema, error) {
	t := reflect.TypeFor[T]()
	types := goTypes{overrides: map[reflect.Type]*jsonschema.Schema{}}
	if err := types.walk(t, t.String()); err != nil {
		return nil, err
	}
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: types.overrides})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrType, err)
	}
	document, err := stdjson.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrType, t, err)
	}
	return Parse(document)
}

// goTypes finds out how the house's JSON writes the types in a type, where that is not as their kind would say, and
// refuses what it cannot write.
type goTypes struct {
	overrides map[reflect.Type]*jsonschema.Schema
	path      []reflect.Type
}

// known says how a type is written that does it by itself.
func known(t reflect.Type) (*jsonschema.Schema, bool) {
	implements := func(interfaces ...reflect.Type) bool {
		for _, i := range interfaces {
			if t.Implements(i) || reflect.PointerTo(t).Implements(i) {
				return true
			}
		}
		return false
	}
	switch {
	case t == reflect.TypeFor[time.Time]():
		return &jsonschema.Schema{Type: "string", Format: "date-time"}, true
	case t.Kind() == reflect.Slice && t.Elem() == reflect.TypeFor[byte]() && !implements(reflect.TypeFor[json.Unmarshaler](), reflect.TypeFor[json.UnmarshalerFrom]()):
		return &jsonschema.Schema{Type: "string", ContentEncoding: "base64"}, true
	case t == reflect.TypeFor[jsontext.Value](), implements(reflect.TypeFor[json.Unmarshaler](), reflect.TypeFor[json.UnmarshalerFrom]()):
		return &jsonschema.Schema{}, true
	case implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return &jsonschema.Schema{Type: "string"}, true
	}
	return nil, false
}

// walk looks at a type and all in it. at names where it stands.
func (g *goTypes) walk(t reflect.Type, at string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s, ok := known(t); ok {
		g.overrides[t] = s
		return nil
	}
	for _, outer := range g.path {
		if outer == t && t.Name() != "" {
			return fmt.Errorf("%w: %s: the type %s contains itself", ErrType, at, t)
		}
	}
	g.path = append(g.path, t)
	defer func() { g.path = g.path[:len(g.path)-1] }()
	switch t.Kind() {
	case reflect.Struct:
		return g.fields(t, at)
	case reflect.Slice, reflect.Array:
		return g.walk(t.Elem(), at+"[]")
	case reflect.Map:
		return g.walk(t.Elem(), at+"[]")
	case reflect.Func, reflect.Chan, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return fmt.Errorf("%w: %s: JSON cannot hold a %s", ErrType, at, t)
	}
	if t == reflect.TypeFor[time.Duration]() {
		return fmt.Errorf("%w: %s: a duration has no form of its own in JSON: use a number and say its unit, or a string", ErrType, at)
	}
	return nil
}

func (g *goTypes) fields(t reflect.Type, at string) error {
	seen := t.NumField() == 0
	for i := range t.NumField() {
		field := t.Field(i)
		tag := field.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		for option := range strings.SplitSeq(options, ",") {
			if option != "" && option != "omitempty" && option != "omitzero" {
				return fmt.Errorf("%w: %s.%s: the json option %q changes the form in a way that the schema cannot tell", ErrType, at, field.Name, option)
			}
		}
		switch {
		case name == "-":
			continue
		case field.Anonymous && (name != "" || field.Type.Kind() != reflect.Struct):
			return fmt.Errorf("%w: %s.%s is embedded with a json name, or is no struct: give the field a name", ErrType, at, field.Name)
		case !field.IsExported() && !field.Anonymous:
			continue
		}
		seen = true
		if err := g.walk(field.Type, at+"."+field.Name); err != nil {
			return err
		}
	}
	if !seen {
		return fmt.Errorf("%w: %s: %s is no struct that JSON can see into: it has no exported fields", ErrType, at, t)
	}
	return nil
}
