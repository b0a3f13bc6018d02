package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/host/wasm/egress"
)

// originKeys are the keys of an entry of http that is a mapping.
var originKeys = []key[abi.HTTPGrant]{
	{"origin", func(d *decoder, n *node, h *abi.HTTPGrant) { h.Origin, _ = d.line(n, wantedOrigin) }},
	{"methods", func(d *decoder, n *node, h *abi.HTTPGrant) {
		h.Methods = d.atLeastOne(n, "a list of methods", func(n *node) (string, bool) {
			word, ok := d.line(n, "a method such as GET")
			return strings.ToUpper(word), ok
		})
	}},
	{"secrets", func(d *decoder, n *node, h *abi.HTTPGrant) {
		h.Secrets = d.words(n, "a list of secrets", func(n *node) (string, bool) { return d.line(n, "the name of a secret") })
	}},
	{"private", func(d *decoder, n *node, h *abi.HTTPGrant) { h.Private = d.boolean(n) }},
}

const wantedOrigin = "an origin such as https://api.example.com"

// readHTTP reads the origins that a plugin may send requests to. There is a grant for each entry of the list, also for one
// with a fault.
func readHTTP(d *decoder, n *node, g *wasm.Grants) {
	d.list(n, "a list of origins", func(n *node) {
		var h abi.HTTPGrant
		if n.kind == kindMapping {
			readMapping(d, n, originKeys, &h)
			d.require(n, "the entry", "origin", "it, as in {origin: https://api.example.com, methods: [GET]}")
		} else {
			h.Origin, _ = d.line(n, wantedOrigin+", or a mapping with origin,")
		}
		g.HTTP = append(g.HTTP, h)
	})
}

// checkHTTP holds the origins of a plugin against its secrets and against what may be granted at all.
func (d *decoder) checkHTTP(n *node, p *Plugin) {
	grant, _ := n.find("grant")
	if grant.value == nil {
		return
	}
	list, _ := grant.value.find("http")
	if list.value == nil {
		return
	}
	policy := egress.Policy{Secrets: map[string]egress.Secret{}}
	for i, h := range p.Wasm.Grants.HTTP {
		rule := egress.Rule{Origin: h.Origin, Methods: h.Methods, Private: h.Private}
		if strings.Contains(h.Origin, "@") { // a user and a password, which are not repeated
			at, _ := placeOf(list.value, fmt.Sprintf("http[%d].origin", i))
			d.fault(at, "give a secret as a header, by secrets", "an origin without an @ was wanted")
			rule.Origin = ""
		}
		if rule.Origin == "" { // a fault is on record
			rule.Origin = fmt.Sprintf("https://entry-%d.invalid", i)
		}
		for _, name := range h.Secrets {
			if _, known := p.Secrets[name]; !known {
				d.unknownSecret(list.value.items[i], name, p)
				continue
			}
			rule.Secrets = append(rule.Secrets, name)
			policy.Secrets[name] = egress.NewSecret("as good as any")
		}
		policy.Rules = append(policy.Rules, rule)
	}
	var refused *egress.PolicyError
	if !errors.As(policy.Check(), &refused) {
		return
	}
	for _, f := range refused.Faults {
		if at, ok := placeOf(list.value, f.Where); ok {
			d.fault(at, f.Remedy, "%s", f.What)
		}
	}
}

// unknownSecret records a secret of an origin that the entry does not have.
func (d *decoder) unknownSecret(item *node, name string, p *Plugin) {
	at, _ := item.find("secrets")
	place := item
	if i := slices.IndexFunc(at.value.items, func(n *node) bool { return n.text == name }); i >= 0 {
		place = at.value.items[i]
	}
	var names []string
	for known := range p.Secrets {
		names = append(names, known)
	}
	slices.Sort(names)
	hint := didYouMean(name, names)
	if hint == "" {
		hint = "add to the plugin's entry: secrets: {" + name + ": {env: VARIABLE}}"
	}
	d.fault(place, hint, "unknown secret %q", shortened(name))
}

// placeOf is the value that a fault of a policy is about: http[1].origin, http[1].methods[0].
func placeOf(list *node, where string) (*node, bool) {
	where, ok := strings.CutPrefix(where, "http[")
	number, rest, closed := strings.Cut(where, "]")
	i, err := strconv.Atoi(number)
	if !ok || !closed || err != nil || i >= len(list.items) {
		return nil, false
	}
	item := list.items[i]
	name, number, _ := strings.Cut(strings.TrimPrefix(rest, "."), "[")
	e, ok := item.find(name)
	if !ok || e.value == nil {
		return item, true
	}
	if i, err := strconv.Atoi(strings.TrimSuffix(number, "]")); err == nil && i < len(e.value.items) {
		return e.value.items[i], true
	}
	return e.value, true
}
