package wasm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host/wasm/egress"
)

// right is one right of a grant: the smallest thing that can be given and taken away by itself.
type right struct {
	// list is the member of the grant, and word what stands there: a word, an index, a folder, an origin.
	list, word string
	// detail tells rights of one word apart: the mode of an index; a method, a secret, or private of an origin.
	detail string
	budget abi.Budget
}

// anyMethod is the detail of an origin that may be sent requests with any method.
const anyMethod = "any method"

// rights are the rights of a grant, in the order of its members, each once.
func rights(g abi.Grants) []right {
	var all []right
	add := func(list, word, detail string) {
		r := right{list: list, word: word, detail: detail}
		if !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	words := func(list string, words []string) {
		for _, w := range words {
			add(list, w, "")
		}
	}
	budget := func(list string, b *abi.Budget) {
		if b != nil {
			all = append(all, right{list: list, budget: *b})
		}
	}
	words("read", g.Read)
	words("add", g.Add)
	words("roles", texts(g.Roles))
	words("change", g.Change)
	words("middleware", texts(g.Middleware))
	words("kv", g.KV)
	budget("complete", g.Complete)
	budget("embed", g.Embed)
	for _, s := range g.Search {
		add("search", s.Index, "")
		if s.Mode == "rw" {
			add("search", s.Index, "rw")
		}
	}
	words("events", g.Events)
	for _, h := range g.HTTP {
		origin := originText(h)
		for _, m := range h.Methods {
			add("http", origin, m)
		}
		if len(h.Methods) == 0 {
			add("http", origin, anyMethod)
		}
		for _, name := range h.Secrets {
			add("http", origin, "secret "+name)
		}
		if h.Private {
			add("http", origin, "private")
		}
	}
	for _, f := range g.Files {
		add("files", f.Guest, "")
		if f.Mode == "rw" {
			add("files", f.Guest, "rw")
		}
	}
	return all
}

// String is the right in one line, such as "kv session".
func (r right) String() string {
	if r.budget != (abi.Budget{}) {
		return fmt.Sprintf("%s {calls: %d, tokens: %d}", r.list, r.budget.Calls, r.budget.Tokens)
	}
	return strings.TrimSpace(r.list + " " + r.word + " " + r.detail)
}

// Rights are the rights of a grant in a few words each, such as "kv session", in the order of clause GRA-1.
func Rights(g abi.Grants) []string {
	var names []string
	for _, r := range rights(g) {
		names = append(names, r.String())
	}
	return names
}

// covers reports whether who has r has other as well.
func (r right) covers(other right) bool {
	if r.list != other.list {
		return false
	}
	switch {
	case r.list == "complete" || r.list == "embed":
		return r.budget.Calls >= other.budget.Calls && r.budget.Tokens >= other.budget.Tokens
	case r.list == "read" && r.word == "context:*":
		return strings.HasPrefix(other.word, "context:")
	case r.list == "http" && r.detail == anyMethod && r.word == other.word:
		return !strings.HasPrefix(other.detail, "secret ") && other.detail != "private"
	}
	return r == other
}

// covered reports whether one of the rights covers another.
func covered(all []right, other right) bool {
	return slices.ContainsFunc(all, func(r right) bool { return r.covers(other) })
}

// GrantDiff tells in which rights a grant differs from another, one a line: what it has more begins with "+ ", what it has
// less with "- ". It is nil where both give the same.
func GrantDiff(before, after abi.Grants) []string {
	old, now := rights(before), rights(after)
	var lines []string
	for _, r := range now {
		if !covered(old, r) {
			lines = append(lines, "+ "+r.String())
		}
	}
	for _, r := range old {
		if !covered(now, r) {
			lines = append(lines, "- "+r.String())
		}
	}
	return lines
}

// originText is an origin in the one form that is compared; where it is not known yet, whose it is.
func originText(h abi.HTTPGrant) string {
	if h.Origin == "" {
		return "(the origin of " + h.OriginFrom + " in its config)"
	}
	if o, err := egress.ParseOrigin(h.Origin); err == nil {
		return o.String()
	}
	return h.Origin
}

func searchMode(s abi.SearchGrant) string {
	if s.Mode == "rw" {
		return "rw"
	}
	return "ro"
}
