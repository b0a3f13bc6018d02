package conformance

import (
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// object reads the members of one object. Faults are collected; a member that is missing or wrong gives a zero value.
type object struct {
	*node
	faults *faults
}

// object reads n as an object that has no keys but the given ones.
func (f *faults) object(n *node, keys ...string) object {
	o := object{n, f}
	if n.byKey == nil {
		f.add(n.at, "an object was wanted, and %s is there", n.is())
		o.node = &node{at: n.at}
		return o
	}
	for _, name := range n.names {
		if !slices.Contains(keys, name) {
			f.add(n.at, "unknown key %q; %s", name, meant(name, keys))
		}
	}
	return o
}

// has reports whether the key is there.
func (o object) has(key string) bool { return o.byKey[key] != nil }

// need makes a missing key a fault.
func (o object) need(keys ...string) {
	for _, key := range keys {
		if o.raw != nil && !o.has(key) {
			o.faults.add(o.at, "%q is missing", key)
		}
	}
}

// either makes it a fault if more than one of the keys is there.
func (o object) either(keys ...string) {
	first := ""
	for _, key := range keys {
		switch {
		case !o.has(key):
		case first == "":
			first = key
		default:
			o.faults.add(o.at, "%q and %q cannot stand together", first, key)
		}
	}
}

// value returns a member if it is of the wanted kind.
func (o object) value(key string, kind jsontext.Kind, want string) *node {
	n := o.byKey[key]
	if n == nil {
		return nil
	}
	have := n.raw.Kind()
	if have == kind || kind == 't' && have == 'f' {
		return n
	}
	o.faults.add(n.at, "%s was wanted, and %s is there", want, n.is())
	return nil
}

func (o object) str(key string) string {
	if n := o.value(key, '"', "a string"); n != nil {
		return n.text
	}
	return ""
}

// name is a string that must not be empty where it is given.
func (o object) name(key string) string {
	n := o.value(key, '"', "a string")
	if n == nil {
		return ""
	}
	if n.text == "" {
		o.faults.add(n.at, "must not be empty")
	}
	return n.text
}

func (o object) optional(key string) *string {
	if n := o.value(key, '"', "a string"); n != nil {
		return &n.text
	}
	return nil
}

// word is one of a few; absent is what holds where it is not given.
func (o object) word(key, absent string, valid ...string) string {
	n := o.value(key, '"', "a string")
	if n == nil {
		return absent
	}
	if !slices.Contains(valid, n.text) {
		o.faults.add(n.at, "%q is not valid here; %s", n.text, meant(n.text, valid))
	}
	return n.text
}

func (o object) boolean(key string, absent bool) bool {
	if n := o.value(key, 't', "true or false"); n != nil {
		return n.raw.Kind() == 't'
	}
	return absent
}

// count is a whole number that is not negative.
func (o object) count(key string) int {
	n := o.value(key, '0', "a whole number")
	if n == nil {
		return 0
	}
	c, err := strconv.ParseUint(string(n.raw), 10, 31)
	if err != nil {
		o.faults.add(n.at, "a whole number from 0 on was wanted, and %s is there", n.raw)
	}
	return int(c)
}

// rawValue is a value as it stands, of the given kind unless that is 0.
func (o object) rawValue(key string, kind jsontext.Kind, want string) jsontext.Value {
	n := o.byKey[key]
	if kind != 0 {
		n = o.value(key, kind, want)
	}
	if n == nil {
		return nil
	}
	return n.raw
}

func (o object) strings(key string) []string {
	return listOf(o, key, func(f *faults, n *node) string {
		if n.raw.Kind() != '"' {
			f.add(n.at, "a string was wanted, and %s is there", n.is())
		}
		return n.text
	})
}

// members are the keys of a member that is an object of any keys.
func (o object) members(key string) []Member {
	n := o.value(key, '{', "an object")
	if n == nil {
		return nil
	}
	out := make([]Member, len(n.names))
	for i, name := range n.names {
		out[i] = Member{name, n.byKey[name].raw}
	}
	return out
}

// listOf reads an array; it is nil only where the key is absent.
func listOf[T any](o object, key string, element func(*faults, *node) T) []T {
	n := o.value(key, '[', "an array")
	if n == nil {
		return nil
	}
	out := make([]T, len(n.list))
	for i, e := range n.list {
		out[i] = element(o.faults, e)
	}
	return out
}

// wanted reads an expectation. null stands for "must be absent" where nullable says that it may.
func wanted[T any](o object, key string, nullable bool, read func() T) Wanted[T] {
	n := o.byKey[key]
	if n == nil {
		return Wanted[T]{}
	}
	if nullable && n.raw.Kind() == 'n' {
		return Wanted[T]{Set: true, Null: true}
	}
	return Wanted[T]{Set: true, Value: read()}
}
