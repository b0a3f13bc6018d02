package wasm

import (
	"cmp"
	"slices"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/message"
)

// Grants are rights, given by the operator and never by the plugin. A nil list stands for the default of [abi.DefaultGrants];
// a list replaces the default, so an empty one gives nothing (clause GRA-3).
type Grants struct {
	// Read lists the parts of a run that the plugin receives.
	Read []string
	// Add lists the effects that it may have.
	Add []string
	// Roles lists the roles of messages that it may add.
	Roles []message.Role
	// Change lists what of others' it may change.
	Change []string
	// Middleware lists the layers at which its process may stand.
	Middleware []abi.Layer
	// KV lists the scopes of storage that it has.
	KV []string
	// Complete and Embed are what it may ask of the host's model in one run; nil for nothing.
	Complete, Embed *abi.Budget
	// Search lists the indexes that it may search.
	Search []abi.SearchGrant
	// Events lists what it may do with events.
	Events []string
	// HTTP lists the origins that it may send requests to.
	HTTP []abi.HTTPGrant
	// Files lists folders that it may read, or change as well.
	Files []Folder
}

// Folder gives a plugin one folder of the host. Nothing outside of it can be reached through it, by links either.
type Folder struct {
	// Host is the folder's path on the host.
	Host string
	// Guest is the path under which the plugin sees it.
	Guest string
	// Mode is "ro", also where empty, or "rw": then the plugin may make, write, rename and remove files and folders in it,
	// though no links. All its calls share the folder, whatever their session, and it is not watched: see [Plugin.Watch].
	Mode string
}

// effective are the rights with defaults put in.
func (g Grants) effective() abi.Grants {
	out := abi.DefaultGrants()
	if g.Read != nil {
		out.Read = slices.Clone(g.Read)
	}
	if g.Add != nil {
		out.Add = slices.Clone(g.Add)
	}
	if g.Roles != nil {
		out.Roles = slices.Clone(g.Roles)
	}
	out.Change, out.Middleware, out.KV = slices.Clone(g.Change), slices.Clone(g.Middleware), slices.Clone(g.KV)
	out.Complete, out.Embed, out.Events = g.Complete, g.Embed, slices.Clone(g.Events)
	out.Search, out.HTTP = slices.Clone(g.Search), slices.Clone(g.HTTP)
	for _, f := range g.Files {
		out.Files = append(out.Files, abi.FileGrant{Guest: f.Guest, Mode: cmp.Or(f.Mode, "ro")})
	}
	return out
}
