package main

import "github.com/weft-run/weft/pdk/go/json"

// scope is where operations are carried out: one call of a provider's hook, or of middleware.
type scope interface {
	// holds reports whether the operation's "when" is met.
	holds(o *op) bool
	// do carries out one operation.
	do(o *op) error
}

// carryOut carries out operations in order, up to the first that fails.
func carryOut(ops []op, s scope) error {
	for i := range ops {
		if !s.holds(&ops[i]) {
			continue
		}
		if err := s.do(&ops[i]); err != nil {
			return err
		}
	}
	return nil
}

// script is a scripted provider or middleware: the operations of one hook, and for middleware when it has something to do.
type script struct {
	hook           string
	ops            []op
	tool, lastRole string
}

// ReadJSON reads a scripted provider or middleware.
func (s *script) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case s.hook:
			for range r.Array() {
				var o op
				o.ReadJSON(r)
				s.ops = append(s.ops, o)
			}
		case "when":
			for member := range r.Object() {
				switch member {
				case "tool":
					s.tool = r.String()
				case "last_role":
					s.lastRole = r.String()
				}
			}
		}
	}
}
