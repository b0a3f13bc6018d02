package kv

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/internal/strictjson"
)

// maxDepth is how deep a value nests at most, as everything that a guest puts out.
const maxDepth = 64

// faults gathers what is wrong with the arguments of a call.
type faults []error

func (f *faults) add(format string, args ...any) {
	*f = append(*f, fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...))
}

func (f faults) join() error {
	if len(f) == 1 {
		return f[0]
	}
	return errors.Join(f...)
}

// CheckGet returns what is wrong with the arguments of Get, for stores.
func CheckGet(ns Namespace, key string) error {
	var f faults
	f.namespace(ns)
	f.key(key)
	return f.join()
}

// CheckSet returns what is wrong with the arguments of Set, for stores: everything that can be told without looking at what
// is there.
func CheckSet(ns Namespace, key string, value jsontext.Value, options SetOptions) error {
	var f faults
	f.namespace(ns)
	f.key(key)
	if err := options.Limits.CheckValue(int64(len(value))); err != nil {
		f = append(f, err) // it is not looked at then
	} else {
		f.value(value)
	}
	if options.IfVersion != nil && *options.IfVersion < 0 {
		f.add("if_version is %d, and versions are 0 or more", *options.IfVersion)
	}
	if options.TTL < 0 {
		f.add("ttl is %v, and must be 0 or more", options.TTL)
	}
	return f.join()
}

// CheckDelete returns what is wrong with the arguments of Delete, for stores.
func CheckDelete(ns Namespace, key string, ifVersion *int64) error {
	var f faults
	f.namespace(ns)
	f.key(key)
	if ifVersion != nil && *ifVersion < 1 {
		f.add("if_version is %d, and versions of entries are 1 or more", *ifVersion)
	}
	return f.join()
}

// CheckList returns what is wrong with the arguments of List, for stores, and else the options with their limit made
// effective.
func CheckList(ns Namespace, options ListOptions) (ListOptions, error) {
	var f faults
	f.namespace(ns)
	f.text("prefix", options.Prefix)
	f.text("after", options.After)
	switch {
	case options.Limit < 0:
		f.add("limit is %d, and must be 0 or more", options.Limit)
	case options.Limit == 0:
		options.Limit = DefaultPage
	}
	options.Limit = min(options.Limit, MaxPage)
	return options, f.join()
}

// CheckClear returns what is wrong with the argument of Clear, for stores.
func CheckClear(ns Namespace) error {
	var f faults
	f.namespace(ns)
	return f.join()
}

func (f *faults) namespace(ns Namespace) {
	switch {
	case ns.Scope == ScopeSession && ns.Session == "":
		f.add("the namespace has the scope session and no session id")
	case ns.Scope == ScopeAgent && ns.Session != "":
		f.add("the namespace has the scope agent and the session id %q: leave it empty", ns.Session)
	case ns.Scope != ScopeSession && ns.Scope != ScopeAgent:
		f.add("the scope is %q, and session or agent was wanted", ns.Scope)
	}
}

func (f *faults) key(key string) {
	if key == "" {
		f.add("the key is empty")
	}
	f.text("key", key)
}

// text checks a key, or what keys are compared with.
func (f *faults) text(what, text string) {
	switch {
	case len(text) > MaxKey:
		f.add("%s is %d bytes long, and may be %d", what, len(text), MaxKey)
	case !utf8.ValidString(text):
		f.add("%s is %q, which is not valid UTF-8", what, text)
	case strings.Contains(text, "\x00"):
		f.add("%s is %q, which contains NUL", what, text)
	}
}

func (f *faults) value(value jsontext.Value) {
	dec, err := strictjson.Decoder(value, maxDepth)
	if err == nil {
		if err = dec.SkipValue(); err == nil {
			err = strictjson.End(dec)
		}
	}
	if err != nil {
		f.add("the value: %w", strictjson.AsFault(err))
	}
}
