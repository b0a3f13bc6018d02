package wasm

import (
	"maps"
	"slices"
	"strings"

	"github.com/weft-run/weft/host/kv"
)

// checkServices finds rights whose service is missing, and gives a plugin that may store keys a store of its own where the
// host has none.
func (l *loader) checkServices() {
	c := &l.config
	g, s := &c.Grants, &c.Services
	if g.Complete != nil && s.Model == nil {
		l.fault("set Services.Model, or leave complete out of the grant", "grant: complete: this host has no model for its plugins")
	}
	if g.Embed != nil && s.Embedder == nil {
		l.fault("set Services.Embedder, or leave embed out of the grant", "grant: embed: this host has no model that embeds")
	}
	for i, granted := range g.Search {
		if s.Indexes[granted.Index] == nil {
			l.fault("name one of those, or add it to Services.Indexes", "grant: search/%d: there is no index %q; there is %s", i, granted.Index, l.indexNames())
		}
	}
	if len(g.KV) > 0 && s.KV == nil {
		s.KV = &ownStore{kv.NewMemory(kv.Options{})}
	}
	l.warnOfUnusedSecrets()
}

// ownStore is the store of one plugin, in memory, where the host has none. Nothing needs to close it.
type ownStore struct{ *kv.Memory }

// keepOwnStore has a plugin's own store outlive the version that it was made for.
func (v *version) keepOwnStore(next *Config) {
	if own, ok := v.services.KV.(*ownStore); ok && next.Services.KV == nil {
		next.Services.KV = own
	}
}

func (l *loader) indexNames() string {
	var names []string
	for name, index := range l.config.Services.Indexes {
		if index != nil {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// warnOfUnusedSecrets tells of secrets that no origin lists: a name may be misspelt. A secret that is listed and not there is
// a fault of the policy for requests.
func (l *loader) warnOfUnusedSecrets() {
	unused := maps.Clone(l.config.Secrets)
	for _, h := range l.config.Grants.HTTP {
		for _, name := range h.Secrets {
			delete(unused, name)
		}
	}
	if len(unused) > 0 {
		l.config.Logger.Warn("the plugin has secrets that no origin of its grants lists, so it cannot use them",
			"plugin", l.name, "secrets", strings.Join(slices.Sorted(maps.Keys(unused)), ", "))
	}
}
