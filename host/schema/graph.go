package schema

import (
	"fmt"
	"net/url"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// graph is a schema as far as the work of checking goes: which schemas are held against the same place of a value, and
// which against places inside it.
type graph struct {
	root  *node
	nodes map[*jsonschema.Schema]*node
	order []*node // of the document

	byPointer map[string]*node
	byAnchor  map[string]*node
	id        string // of the root
	faults    []error

	instructions int // of all patterns
}

// node is one schema of a document.
type node struct {
	schema *jsonschema.Schema
	at     string // JSON pointer
	// same are held against the same place of a value, one by one.
	same []*node
	// member are held against a member of an object, by name; members against any, item against items by their place,
	// items against any.
	member  map[string]*node
	members []*node
	item    []*node
	items   []*node

	pattern, patterns int // instructions of pattern, and of those of patternProperties

	state int     // of the search for cycles
	cost  float64 // how many schemas are held against one place
}

// The states of a node in the search for cycles.
const (
	untouched = iota
	underWay
	finished
)

// maxPointer is how many bytes the JSON pointer of a schema may have.
const maxPointer = 1 << 10

// maxCost is how many schemas may be held against one place of a value.
const maxCost = 10_000

// newGraph builds the graph of a document and finds what makes it unfit: references that lead out, nowhere or to
// themselves, bad patterns, and too much work.
func newGraph(root *jsonschema.Schema) (*graph, error) {
	g := &graph{nodes: map[*jsonschema.Schema]*node{}, byPointer: map[string]*node{}, byAnchor: map[string]*node{}, id: strings.TrimSuffix(root.ID, "#")}
	g.root = g.add(root, "#")
	for _, n := range g.order {
		g.refer(n, "$ref", &n.schema.Ref)
		g.refer(n, "$dynamicRef", &n.schema.DynamicRef)
	}
	for _, n := range g.order { // all references are pointers now
		n.schema.Anchor, n.schema.DynamicAnchor = "", ""
	}
	if len(g.faults) == 0 {
		for _, n := range g.order {
			g.measure(n)
		}
	}
	return g, joined(g.faults)
}

func (g *graph) fault(kind error, at, format string, args ...any) {
	g.faults = append(g.faults, fmt.Errorf("%w: %s: %s", kind, place(at), fmt.Sprintf(format, args...)))
}

// add adds a schema and all in it. A schema that is nil is none.
func (g *graph) add(s *jsonschema.Schema, at string) *node {
	if s == nil {
		return nil
	}
	n := &node{schema: s, at: at}
	if len(at) > maxPointer { // here and in the validator each schema has its own
		g.fault(ErrTooLarge, at, "the way to this schema is longer than %d bytes: choose shorter names", maxPointer)
		return n
	}
	g.nodes[s], g.byPointer[at] = n, n
	g.order = append(g.order, n)
	for _, anchor := range []string{s.Anchor, s.DynamicAnchor} {
		if anchor == "" {
			continue
		}
		if other, taken := g.byAnchor[anchor]; taken {
			g.fault(ErrSchema, at, "the anchor %.80q stands at %s too: each name once", anchor, place(other.at))
		}
		g.byAnchor[anchor] = n
	}
	if s.ID != "" && at != "#" {
		g.fault(ErrSchema, at+"/$id", "an $id below the root is not supported: use $defs, and $anchor to name a part")
	}
	if s.Pattern != "" {
		n.pattern = g.pattern(s.Pattern, at+"/pattern")
	}
	one := func(name string, child *jsonschema.Schema, into *[]*node) {
		if c := g.add(child, at+"/"+name); c != nil && into != nil {
			*into = append(*into, c)
		}
	}
	list := func(name string, children []*jsonschema.Schema, into *[]*node) {
		for i, child := range children {
			one(name+"/"+strconv.Itoa(i), child, into)
		}
	}
	named := func(name string, children map[string]*jsonschema.Schema, into *[]*node) {
		for _, key := range sortedKeys(children) {
			one(name+"/"+escape(key), children[key], into)
		}
	}
	named("$defs", s.Defs, nil)
	named("definitions", s.Definitions, nil)
	list("allOf", s.AllOf, &n.same)
	list("anyOf", s.AnyOf, &n.same)
	list("oneOf", s.OneOf, &n.same)
	one("not", s.Not, &n.same)
	one("if", s.If, &n.same)
	one("then", s.Then, &n.same)
	one("else", s.Else, &n.same)
	named("dependentSchemas", s.DependentSchemas, &n.same)
	named("dependencies", s.DependencySchemas, &n.same)
	for _, key := range sortedKeys(s.Properties) {
		if c := g.add(s.Properties[key], at+"/properties/"+escape(key)); c != nil {
			if n.member == nil {
				n.member = map[string]*node{}
			}
			n.member[key] = c
		}
	}
	for _, pattern := range sortedKeys(s.PatternProperties) {
		n.patterns += g.pattern(pattern, at+"/patternProperties/"+escape(pattern))
	}
	named("patternProperties", s.PatternProperties, &n.members)
	one("additionalProperties", s.AdditionalProperties, &n.members)
	one("propertyNames", s.PropertyNames, &n.members)
	one("unevaluatedProperties", s.UnevaluatedProperties, &n.members)
	list("prefixItems", s.PrefixItems, &n.item)
	list("items", s.ItemsArray, &n.item)
	one("items", s.Items, &n.items)
	one("additionalItems", s.AdditionalItems, &n.items)
	one("contains", s.Contains, &n.items)
	one("unevaluatedItems", s.UnevaluatedItems, &n.items)
	one("contentSchema", s.ContentSchema, nil)
	return n
}

func sortedKeys(m map[string]*jsonschema.Schema) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// escape is a name as it stands in a JSON pointer.
func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// maxInstructions bounds the patterns of a document, all together. A repetition is that many times what it repeats.
const maxInstructions = 20_000

// pattern checks a pattern and returns how long it is as a program.
func (g *graph) pattern(pattern, at string) int {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		g.fault(ErrPattern, at, "%v", err)
		return 0
	}
	n := instructions(tree)
	g.instructions += n
	if g.instructions > maxInstructions && g.instructions-n <= maxInstructions {
		g.fault(ErrTooComplex, at, "the patterns up to here come to more than %d instructions", maxInstructions)
	}
	return n
}

// instructions is about how long a pattern is as a program, without making it.
func instructions(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		n += instructions(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return n
}

// refer adds what a reference leads to, and writes that into the schema as a plain pointer, so that the validator goes
// where the graph says and nowhere else.
func (g *graph) refer(n *node, keyword string, reference *string) {
	ref := *reference
	if ref == "" {
		return
	}
	at := n.at + "/" + keyword
	fragment, local := strings.CutPrefix(ref, "#")
	if !local && g.id != "" && (ref == g.id || strings.HasPrefix(ref, g.id+"#")) {
		fragment, local = strings.TrimPrefix(ref[len(g.id):], "#"), true
	}
	if !local {
		g.fault(ErrRemoteReference, at, "%.200q leads out of the document, and nothing is ever fetched: put what it means into $defs", ref)
		return
	}
	fragment, err := url.PathUnescape(fragment)
	if err != nil {
		g.fault(ErrReference, at, "%.200q: %v", ref, err)
		return
	}
	target := g.byPointer["#"+fragment]
	if target == nil && !strings.HasPrefix(fragment, "/") {
		target = g.byAnchor[fragment]
	}
	if target == nil {
		g.fault(ErrReference, at, "%.200q leads to no schema of the document", ref)
		return
	}
	n.same = append(n.same, target)
	*reference = "#" + (&url.URL{Fragment: target.at[1:]}).EscapedFragment()
}

// measure finds schemas that lead back to themselves at one place of a value, and counts how many are held against it.
func (g *graph) measure(n *node) {
	switch n.state {
	case finished:
		return
	case underWay:
		g.fault(ErrCycle, n.at, "it leads to itself without descending into the value, so that checking would never end")
		return
	}
	n.state = underWay
	n.cost = 1
	for _, other := range n.same {
		g.measure(other)
		n.cost += other.cost
	}
	n.state = finished
	if n.cost > maxCost {
		// Once is enough, not for everything that leads here.
		if !slices.ContainsFunc(n.same, func(other *node) bool { return other.cost > maxCost }) {
			g.fault(ErrTooComplex, n.at, "more than %d schemas would be held against one place of a value", maxCost)
		}
	}
}
