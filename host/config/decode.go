package config

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// decoder turns a tree into a Config, and goes on after each fault.
type decoder struct {
	collector
	// dir is where relative paths begin.
	dir string
	// searched are the names of indexes that plugins are to search, and databases the lines in which a file is named.
	searched  []*node
	databases map[string]int
}

// key is one key of a mapping, and what reads its value. The tables of keys are all that the decoder accepts.
type key[T any] struct {
	name string
	read func(d *decoder, n *node, into *T)
}

// readMapping reads a mapping by its table.
func readMapping[T any](d *decoder, n *node, keys []key[T], into *T) {
	if !d.is(n, kindMapping, "a mapping of "+strings.Join(namesOf(keys), ", ")) {
		return
	}
	for _, e := range n.entries {
		i := slices.IndexFunc(keys, func(k key[T]) bool { return k.name == e.key })
		if i < 0 {
			d.unknownKey(n, e, namesOf(keys))
			continue
		}
		if e.value != nil {
			keys[i].read(d, e.value, into)
		}
	}
}

func namesOf[T any](keys []key[T]) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	return names
}

// tagged is a table of keys with one more, which says what the mapping is and was read before.
func tagged[T any](tag string, keys ...key[T]) []key[T] {
	return append([]key[T]{{tag, func(*decoder, *node, *T) {}}}, keys...)
}

// require records a fault for a key that a mapping lacks. The example shows the key with a value.
func (d *decoder) require(n *node, what, name, example string) {
	if _, ok := n.find(name); !ok {
		d.fault(n, "add "+example, "%s has no %s", what, name)
	}
}

// named is one kind of what a key names, and what reads a mapping of that kind.
type named[T any] struct {
	name string
	read func(d *decoder, n *node) T
}

// readNamed reads a mapping whose keys depend on the word under one of them, the tag.
func readNamed[T any](d *decoder, n *node, tag, what string, kinds []named[T]) (T, bool) {
	var zero T
	if !d.is(n, kindMapping, what+", with "+tag+" and its settings,") {
		return zero, false
	}
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	name, ok := n.find(tag)
	switch {
	case !ok:
		d.fault(n, "add "+tag+", one of "+strings.Join(names, ", "), "%s was wanted, and there is no %s", what, tag)
		return zero, false
	case name.value == nil:
		return zero, false
	}
	word, ok := d.oneOf(name.value, names...)
	if !ok {
		return zero, false
	}
	return kinds[slices.Index(names, word)].read(d, n), true
}

// faultAt is fault for a value of a mapping, or for the mapping where the key is not there.
func (d *decoder) faultAt(n *node, name, hint, format string, args ...any) {
	if e, ok := n.find(name); ok && e.value != nil {
		n = e.value
	}
	d.fault(n, hint, format, args...)
}

// misplaced records a fault for each key that a mapping of another kind may have, and returns the mapping without them.
func (d *decoder) misplaced(n *node, names []string, hint string) *node {
	rest := *n
	rest.entries = nil
	for _, e := range n.entries {
		if slices.Contains(names, e.key) {
			d.add(e.line, e.column, n.path, hint, "the key %s has no place here", e.key)
			continue
		}
		rest.entries = append(rest.entries, e)
	}
	return &rest
}

func (d *decoder) unknownKey(n *node, e entry, names []string) {
	hint := didYouMean(e.key, names)
	if e.key == "api_key" && slices.Contains(names, "api_key_env") {
		hint = "keys do not stand in the file: api_key_env names the environment variable that holds it"
	}
	if hint == "" {
		hint = "the keys here are " + strings.Join(names, ", ")
	}
	d.add(e.line, e.column, n.path, hint, "unknown key %q", e.key)
}

func (d *decoder) fault(n *node, hint, format string, args ...any) {
	d.add(n.line, n.column, n.path, hint, format, args...)
}

// is reports whether a value is of a kind, and records a fault where it is not.
func (d *decoder) is(n *node, want kind, wanted string) bool {
	if n.kind == want {
		return true
	}
	hint := ""
	if n.kind == kindNull {
		hint = "give it a value, or remove the key"
	}
	d.fault(n, hint, "%s was wanted, and %s is there", wanted, n.have())
	return false
}

// isText is is for free text, of which quotes make what YAML takes for something else.
func (d *decoder) isText(n *node, wanted string) bool {
	if n.kind == kindNumber || n.kind == kindBool {
		d.fault(n, "put it in quotes", "%s was wanted, and %s is there", wanted, n.have())
		return false
	}
	return d.is(n, kindText, wanted)
}

// have describes a value for errors.
func (n *node) have() string {
	switch n.kind {
	case kindText:
		return strconv.Quote(shortened(n.text))
	case kindNumber, kindBool:
		return n.text
	default:
		return string(n.kind)
	}
}

func shortened(text string) string {
	runes := []rune(text)
	if len(runes) <= 40 {
		return text
	}
	return string(runes[:40]) + "…"
}

// line reads a text of one line that is not empty.
func (d *decoder) line(n *node, wanted string) (string, bool) {
	if !d.isText(n, wanted) {
		return "", false
	}
	if strings.TrimSpace(n.text) == "" || strings.ContainsAny(n.text, "\n\r") {
		d.fault(n, "", "%s was wanted, in one line, and %s is there", wanted, n.have())
		return "", false
	}
	return n.text, true
}

// text reads any text.
func (d *decoder) text(n *node) string {
	if !d.isText(n, "text") {
		return ""
	}
	return n.text
}

// oneOf reads a text that must be one of some words. A word that YAML takes for something else counts by its text.
func (d *decoder) oneOf(n *node, words ...string) (string, bool) {
	scalar := n.kind == kindText || n.kind == kindBool
	if scalar && slices.Contains(words, n.text) {
		return n.text, true
	}
	wanted, hint := words[0], ""
	if len(words) > 1 {
		wanted = "one of " + strings.Join(words, ", ")
		hint = didYouMean(n.text, words)
	}
	d.fault(n, hint, "%s was wanted, and %s is there", wanted, n.have())
	return "", false
}

func (d *decoder) boolean(n *node) bool {
	if n.kind == kindText && slices.Contains([]string{"yes", "no", "on", "off"}, strings.ToLower(n.text)) {
		d.fault(n, "write true or false", "true or false was wanted, and %s is there", n.have())
		return false
	}
	return d.is(n, kindBool, "true or false") && n.text == "true"
}

// list reads each item of a list.
func (d *decoder) list(n *node, wanted string, item func(n *node)) {
	if !d.is(n, kindList, wanted) {
		return
	}
	for _, i := range n.items {
		item(i)
	}
}

// words reads a list of texts without repetition, each of which ok must find right; it records the fault itself.
func (d *decoder) words(n *node, wanted string, ok func(n *node) (string, bool)) []string {
	out := []string{}
	d.list(n, wanted, func(n *node) {
		word, good := ok(n)
		switch {
		case !good:
		case slices.Contains(out, word):
			d.fault(n, "remove one of them", "%q stands twice", word)
		default:
			out = append(out, word)
		}
	})
	return out
}

// atLeastOne is words for a list that would mean nothing if it were empty.
func (d *decoder) atLeastOne(n *node, wanted string, ok func(n *node) (string, bool)) []string {
	if n.kind == kindList && len(n.items) == 0 {
		d.fault(n, "list one, or remove the key", "the list is empty")
	}
	return d.words(n, wanted, ok)
}

// byName reads a mapping whose keys are names that the file chooses.
func (d *decoder) byName(n *node, wanted string, value func(name string, n *node)) {
	if !d.is(n, kindMapping, wanted) {
		return
	}
	for _, e := range n.entries {
		if e.key == "" {
			d.add(e.line, e.column, n.path, "", "a name cannot be empty")
		} else if e.value != nil {
			value(e.key, e.value)
		}
	}
}

// expression reads a regular expression; nil where it is wrong.
func (d *decoder) expression(n *node) *regexp.Regexp {
	text, ok := d.line(n, "a regular expression")
	if !ok {
		return nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		d.fault(n, "the syntax is that of Go's regexp", "the expression cannot be read: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		return nil
	}
	return re
}

// number reads a finite number within bounds, which are part of what is wanted.
func (d *decoder) number(n *node, low, high float64, wanted string) *float64 {
	if n.kind != kindNumber {
		d.is(n, kindNumber, wanted)
		return nil
	}
	f, err := strconv.ParseFloat(n.text, 64)
	if err != nil || !jsonNumber.MatchString(n.text) || f < low || f > high {
		d.fault(n, "", "%s was wanted, and %s is there", wanted, n.text)
		return nil
	}
	return &f
}

// atLeast is whole for a plain number; 0 where it is wrong.
func (d *decoder) atLeast(n *node, low int) int {
	if i := d.whole(n, low, "a whole number of at least "+strconv.Itoa(low)); i != nil {
		return *i
	}
	return 0
}

// whole reads a whole number that is at least low.
func (d *decoder) whole(n *node, low int, wanted string) *int {
	if n.kind != kindNumber {
		d.is(n, kindNumber, wanted)
		return nil
	}
	i, err := strconv.Atoi(n.text)
	if err != nil || !jsonNumber.MatchString(n.text) || i < low {
		d.fault(n, "", "%s was wanted, and %s is there", wanted, n.text)
		return nil
	}
	return &i
}
