package schema

import (
	"fmt"
	"slices"
)

// maxSteps is how many times schemas may be held against places of one value.
const maxSteps = 1_000_000

// visit is a schema that is held against a place, a number of times.
type visit struct {
	node  *node
	times float64
}

// work counts how many schemas would be held against the places of a value, without doing it. Schemas that refer to
// themselves through the value can make that exponential, and the validator has no limit of its own.
type work struct {
	steps float64
	group map[*node][]visit
}

// check reports a value whose check would take too many steps.
func (g *graph) check(value any) error {
	w := work{group: map[*node][]visit{}}
	if !w.count(value, []visit{{g.root, 1}}) {
		return fmt.Errorf("%w: this value would take more than %d steps", ErrTooComplex, maxSteps)
	}
	return nil
}

// count adds the steps of a place and of all places inside it. It reports whether they are few enough.
func (w *work) count(value any, held []visit) bool {
	var all []visit
	size := sizeOf(value)
	for _, h := range held {
		for _, v := range w.closure(h.node) {
			times := v.times * h.times
			w.steps += times * v.node.weight(value, size)
			if v.node.descends() {
				all = append(all, visit{v.node, times})
			}
		}
	}
	if w.steps > maxSteps {
		return false
	}
	switch value := value.(type) {
	case map[string]any:
		w.steps += float64(len(value)*len(all)) / 16
		for name, child := range value {
			if w.steps > maxSteps {
				return false
			}
			var inner sum
			for _, v := range all {
				if n := v.node.member[name]; n != nil {
					inner.add(n, v.times)
				}
				for _, n := range v.node.members {
					inner.add(n, v.times)
				}
			}
			if len(inner.order) > 0 && !w.count(child, inner.visits()) {
				return false
			}
		}
	case []any:
		w.steps += float64(len(value)*len(all)) / 16
		for i, child := range value {
			if w.steps > maxSteps {
				return false
			}
			var inner sum
			for _, v := range all {
				if i < len(v.node.item) {
					inner.add(v.node.item[i], v.times)
				}
				for _, n := range v.node.items {
					inner.add(n, v.times)
				}
			}
			if len(inner.order) > 0 && !w.count(child, inner.visits()) {
				return false
			}
		}
	}
	return true
}

// closure is a schema and all that is held against the same place because of it, each once, with how often.
func (w *work) closure(n *node) []visit {
	if known, ok := w.group[n]; ok {
		return known
	}
	all := sum{}
	all.add(n, 1)
	for _, other := range n.same {
		for _, v := range w.closure(other) {
			all.add(v.node, v.times)
		}
	}
	w.group[n] = all.visits()
	return w.group[n]
}

// sum is a list of visits in which each schema stands once.
type sum struct {
	order []*node
	times map[*node]float64
}

func (s *sum) add(n *node, times float64) {
	if s.times == nil {
		s.times = map[*node]float64{}
	}
	if _, known := s.times[n]; !known {
		s.order = append(s.order, n)
	}
	s.times[n] += times
}

func (s *sum) visits() []visit {
	out := make([]visit, len(s.order))
	for i, n := range s.order {
		out[i] = visit{n, s.times[n]}
	}
	return out
}

// descends reports whether a schema has schemas for the members or items of a value.
func (n *node) descends() bool { return len(n.member)+len(n.members)+len(n.item)+len(n.items) > 0 }

// Steps are about as long as the check of one schema without keywords. These are how much of other work makes one.
const (
	bytesPerStep    = 256 // of a value, which the text of an error quotes whole
	matchesPerStep  = 64  // bytes of a string times instructions of a pattern
	comparesPerStep = 4   // values of an enum, or names of required members
)

// weight is how many steps it takes to hold a schema against a value of a size, without what stands inside it.
func (n *node) weight(value any, size int) float64 {
	s := n.schema
	steps := 1 + float64(size)/bytesPerStep + float64(len(s.Enum)+len(s.Required))/comparesPerStep
	for _, names := range s.DependentRequired {
		steps += float64(len(names)) / comparesPerStep
	}
	for _, names := range s.DependencyStrings {
		steps += float64(len(names)) / comparesPerStep
	}
	switch value := value.(type) {
	case string:
		steps += float64(len(value)) * float64(n.pattern) / matchesPerStep
	case map[string]any:
		for name := range value {
			steps += float64(len(name)) * float64(n.patterns) / matchesPerStep
		}
	case []any:
		if s.UniqueItems && slices.ContainsFunc(value, func(v any) bool { return isList(v) || isObject(v) }) {
			// The validator's hashes of ["a", "bc"] and ["ab", "c"] are the same: at worst it compares each with each.
			steps += float64(len(value)) * float64(len(value)) / comparesPerStep
		}
	}
	return steps
}

// sizeOf is about how long a value is as text.
func sizeOf(value any) int {
	size := 8
	switch value := value.(type) {
	case string:
		size += len(value)
	case map[string]any:
		for name, child := range value {
			size += len(name) + sizeOf(child)
		}
	case []any:
		for _, child := range value {
			size += sizeOf(child)
		}
	}
	return size
}
