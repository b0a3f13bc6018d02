package abi

import (
	"slices"

	"github.com/weft-run/weft/message"
)

// Grants are rights (clauses GRA-1 to GRA-8).
type Grants struct {
	// Read lists parts of the run: [ReadParts], "context:SOURCE", "context:*".
	Read []string `json:"read,omitzero"`
	// Add lists effects that add: [Additions].
	Add []string `json:"add,omitzero"`
	// Roles lists the roles that added messages may have.
	Roles []message.Role `json:"roles,omitzero"`
	// Change lists effects that change what others made: [Changes].
	Change []string `json:"change,omitzero"`
	// Middleware lists the layers at which process may stand.
	Middleware []Layer `json:"middleware,omitzero"`
	// KV lists scopes of storage: [Scopes].
	KV []string `json:"kv,omitzero"`
	// Complete and Embed are budgets of the host's model for one run.
	Complete *Budget `json:"complete,omitzero"`
	Embed    *Budget `json:"embed,omitzero"`
	// Search lists indexes of the host.
	Search []SearchGrant `json:"search,omitzero"`
	// Events lists "emit" and "request".
	Events []string `json:"events,omitzero"`
	// HTTP lists origins.
	HTTP []HTTPGrant `json:"http,omitzero"`
	// Files lists folders.
	Files []FileGrant `json:"files,omitzero"`
}

// The words of the lists of [Grants].
var (
	ReadParts = []string{"input", "response", "options", "metadata", "request", "calls"}
	Additions = []string{"messages", "instructions", "metadata", "tools"}
	Changes   = []string{"messages", "options", "arguments", "result"}
	Scopes    = []string{"session", "agent"}
	EventKind = []string{"emit", "request"}
	Modes     = []string{"ro", "rw"}
)

// Budget bounds what one plugin asks of the host's model in one run. Both are at least 1.
type Budget struct {
	Calls  int `json:"calls"`
	Tokens int `json:"tokens"`
}

// SearchGrant lets a plugin search an index, and with mode "rw" change it. An empty mode means "ro".
type SearchGrant struct {
	Index string `json:"index"`
	Mode  string `json:"mode,omitzero"`
}

// HTTPGrant lets a plugin send requests to one origin (clause HF-16).
type HTTPGrant struct {
	// Origin is scheme, host and port, such as https://api.example.com.
	Origin string `json:"origin,omitzero"`
	// OriginFrom, in a description, names the member of the config that holds a URL of the origin (clause GRA-8).
	OriginFrom string `json:"origin_from,omitzero"`
	// Methods lists methods; absent means all.
	Methods []string `json:"methods,omitzero"`
	// Secrets lists the secrets that may go into headers to this origin.
	Secrets []string `json:"secrets,omitzero"`
	// Private lets the origin be on a private or loopback address.
	Private bool `json:"private,omitzero"`
}

// FileGrant lets a plugin read one folder, and with mode "rw" change it (clause GRA-5). An empty mode means "ro".
type FileGrant struct {
	// Guest is the path under which the plugin sees the folder: absolute, with slashes.
	Guest string `json:"guest"`
	Mode  string `json:"mode,omitzero"`
}

// DefaultGrants is what a plugin may do without being granted anything (clause GRA-2).
func DefaultGrants() Grants {
	return Grants{
		Read:  []string{"input", "response"},
		Add:   []string{"messages", "instructions"},
		Roles: []message.Role{message.RoleUser},
	}
}

// CanRead reports whether the rights hold one of [ReadParts].
func (g *Grants) CanRead(part string) bool { return slices.Contains(g.Read, part) }

// CanReadSource reports whether the rights hold the messages that a source added.
func (g *Grants) CanReadSource(sourceID string) bool {
	return slices.Contains(g.Read, "context:*") || slices.Contains(g.Read, "context:"+sourceID)
}

// ReadsContext reports whether the rights hold anything of what other sources add.
func (g *Grants) ReadsContext() bool {
	return slices.ContainsFunc(g.Read, func(r string) bool { return len(r) > len("context:") && r[:len("context:")] == "context:" })
}

// CanAdd reports whether the rights hold one of [Additions].
func (g *Grants) CanAdd(effect string) bool { return slices.Contains(g.Add, effect) }

// CanChange reports whether the rights hold one of [Changes].
func (g *Grants) CanChange(what string) bool { return slices.Contains(g.Change, what) }

// CanStand reports whether the rights hold a layer for process.
func (g *Grants) CanStand(layer Layer) bool { return slices.Contains(g.Middleware, layer) }

// SearchMode is "ro", "rw", or empty where the index is not granted.
func (g *Grants) SearchMode(index string) string {
	for _, s := range g.Search {
		if s.Index == index {
			if s.Mode == "rw" {
				return "rw"
			}
			return "ro"
		}
	}
	return ""
}
