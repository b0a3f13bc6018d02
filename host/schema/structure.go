package schema

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// form is what the value of a keyword must be.
type form string

// The forms of keywords.
const (
	aSchema  form = "a schema (an object, or true or false)"
	schemas  form = "an array of schemas"
	named    form = "an object of schemas"
	text     form = "a string"
	texts    form = "an array of strings"
	number   form = "a number"
	count    form = "a whole number of at least 0"
	flag     form = "true or false"
	typeName form = "one of array, boolean, integer, null, number, object, string, or an array of them"
)

// forms are the keywords whose values the validator relies on.
var forms = map[string]form{
	"$defs": named, "definitions": named, "properties": named, "patternProperties": named, "dependentSchemas": named,
	"allOf": schemas, "anyOf": schemas, "oneOf": schemas, "prefixItems": schemas,
	"additionalItems": aSchema, "additionalProperties": aSchema, "contains": aSchema, "contentSchema": aSchema, "else": aSchema,
	"if": aSchema, "not": aSchema, "propertyNames": aSchema, "then": aSchema, "unevaluatedItems": aSchema, "unevaluatedProperties": aSchema,
	"$anchor": text, "$comment": text, "$dynamicAnchor": text, "$dynamicRef": text, "$id": text, "$ref": text, "$schema": text,
	"contentEncoding": text, "contentMediaType": text, "description": text, "format": text, "pattern": text, "title": text,
	"required":         texts,
	"exclusiveMaximum": number, "exclusiveMinimum": number, "maximum": number, "minimum": number, "multipleOf": number,
	"maxContains": count, "maxItems": count, "maxLength": count, "maxProperties": count,
	"minContains": count, "minItems": count, "minLength": count, "minProperties": count,
	"deprecated": flag, "readOnly": flag, "uniqueItems": flag, "writeOnly": flag,
	"type": typeName,
}

var typeNames = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

// structure finds what stands in a document where a keyword wants something else, in the order of the names.
func structure(value any, at string, top bool) []error {
	object, ok := value.(map[string]any)
	if _, boolean := value.(bool); boolean {
		return nil
	}
	if !ok {
		if top {
			return []error{fmt.Errorf("want a JSON object, or true or false, and this is %s", describe(value))}
		}
		return []error{wanted(at, aSchema, value)}
	}
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(object)) {
		want, known := forms[name]
		child, place := object[name], at+"/"+escape(name)
		if name == "items" { // one schema, or in draft 7 an array of them
			if want, known = aSchema, true; isList(child) {
				want = schemas
			}
		}
		if name == "dependencies" && isObject(child) { // schemas, or arrays of names
			for _, key := range slices.Sorted(maps.Keys(child.(map[string]any))) {
				if one := child.(map[string]any)[key]; !isList(one) {
					faults = append(faults, structure(one, place+"/"+escape(key), false)...)
				}
			}
		}
		if other := spelled(name); other != name {
			faults = append(faults, fmt.Errorf("%s: want %s, in these letters", at, other))
		}
		switch {
		case !known:
		case want == aSchema:
			faults = append(faults, structure(child, place, false)...)
		case want == schemas && isList(child):
			for i, one := range child.([]any) {
				faults = append(faults, structure(one, place+"/"+strconv.Itoa(i), false)...)
			}
		case want == named && isObject(child):
			all := child.(map[string]any)
			for _, key := range slices.Sorted(maps.Keys(all)) {
				faults = append(faults, structure(all[key], place+"/"+escape(key), false)...)
			}
		case !want.fits(child):
			faults = append(faults, wanted(place, want, child))
		}
	}
	return faults
}

// fits reports whether a value that holds no schemas has the form.
func (f form) fits(value any) bool {
	switch f {
	case text:
		_, ok := value.(string)
		return ok
	case flag:
		_, ok := value.(bool)
		return ok
	case number:
		_, ok := value.(float64)
		return ok
	case count:
		n, ok := value.(float64)
		return ok && n >= 0 && n == math.Trunc(n) && n <= math.MaxInt32
	case texts:
		list, ok := value.([]any)
		return ok && !slices.ContainsFunc(list, func(v any) bool { _, ok := v.(string); return !ok })
	case typeName:
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		return len(list) > 0 && !slices.ContainsFunc(list, func(v any) bool {
			name, ok := v.(string)
			return !ok || !slices.Contains(typeNames, name)
		})
	}
	return false
}

func isList(v any) bool   { _, ok := v.([]any); return ok }
func isObject(v any) bool { _, ok := v.(map[string]any); return ok }

func wanted(at string, want form, value any) error {
	return fmt.Errorf("%s: want %s, got %s", place(at), want, describe(value))
}

// place is a JSON pointer that is not longer than anybody reads.
func place(at string) string {
	const longest = 200
	if len(at) <= longest {
		return at
	}
	return strings.ToValidUTF8(at[:longest], "") + "…"
}

// describe is a value in a few words.
func describe(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return "the number " + strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		return fmt.Sprintf("the string %.80q", v)
	case []any:
		return fmt.Sprintf("an array of %d", len(v))
	}
	return "an object"
}

// maxFaults bounds what is told of one document.
const maxFaults = 16

// joined is the first faults of a document as one error; nil for none.
func joined(faults []error) error {
	if more := len(faults) - maxFaults; more > 0 {
		faults = append(faults[:maxFaults:maxFaults], fmt.Errorf("and %d more", more))
	}
	return errors.Join(faults...)
}

// spelled is the keyword that a name is but for the case of its letters, which the validator's decoder does not see; or
// the name.
func spelled(name string) string {
	for _, keyword := range keywords {
		if strings.EqualFold(keyword, name) {
			return keyword
		}
	}
	return name
}

var keywords = append(slices.Sorted(maps.Keys(forms)), "items", "dependencies", "dependentRequired", "enum", "const", "default", "examples", "$vocabulary")
