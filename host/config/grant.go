package config

import (
	"path"
	"slices"
	"strings"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/message"
)

// grantKeys are the keys of grant, in the order of clause GRA-1.
var grantKeys = []key[wasm.Grants]{
	{"read", func(d *decoder, n *node, g *wasm.Grants) {
		g.Read = d.words(n, "a list of what the plugin may read", d.readRight)
	}},
	{"add", func(d *decoder, n *node, g *wasm.Grants) {
		g.Add = d.rights(n, "a list of what the plugin may add", abi.Additions)
	}},
	{"roles", func(d *decoder, n *node, g *wasm.Grants) {
		g.Roles = asNames[message.Role](d.rights(n, "a list of roles", texts(message.Roles)))
	}},
	{"change", func(d *decoder, n *node, g *wasm.Grants) {
		g.Change = d.rights(n, "a list of what the plugin may change", abi.Changes)
	}},
	{"middleware", func(d *decoder, n *node, g *wasm.Grants) {
		g.Middleware = asNames[abi.Layer](d.rights(n, "a list of layers", texts(abi.Layers)))
	}},
	{"kv", func(d *decoder, n *node, g *wasm.Grants) { g.KV = d.rights(n, "a list of scopes", abi.Scopes) }},
	{"complete", func(d *decoder, n *node, g *wasm.Grants) { g.Complete = d.budget(n) }},
	{"embed", func(d *decoder, n *node, g *wasm.Grants) { g.Embed = d.budget(n) }},
	{"search", readSearch},
	{"events", func(d *decoder, n *node, g *wasm.Grants) {
		g.Events = d.rights(n, "a list of what the plugin may do with events", abi.EventKind)
	}},
	{"http", readHTTP},
	{"files", func(d *decoder, n *node, g *wasm.Grants) {
		d.list(n, "a list of folders", func(n *node) {
			if f, ok := d.folder(n, g.Files); ok {
				g.Files = append(g.Files, f)
			}
		})
	}},
}

// rights reads a list of words, each of which must be known.
func (d *decoder) rights(n *node, wanted string, known []string) []string {
	return d.words(n, wanted, func(n *node) (string, bool) { return d.oneOf(n, known...) })
}

// texts and asNames turn lists of names into lists of texts, and back.
func texts[T ~string](names []T) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = string(name)
	}
	return out
}

func asNames[T ~string](words []string) []T {
	out := make([]T, len(words))
	for i, word := range words {
		out[i] = T(word)
	}
	return out
}

// modelBudgetKeys are the keys of complete and embed in a grant.
var modelBudgetKeys = []key[abi.Budget]{
	{"calls", func(d *decoder, n *node, b *abi.Budget) { b.Calls = d.spend(n) }},
	{"tokens", func(d *decoder, n *node, b *abi.Budget) { b.Tokens = d.spend(n) }},
}

// spend reads one count of a budget.
func (d *decoder) spend(n *node) int {
	if n.kind == kindNumber && strings.Trim(n.text, "0") == "" {
		d.fault(n, "remove the whole key to give nothing", "a whole number of at least 1 was wanted, and 0 is there")
		return 0
	}
	return d.atLeast(n, 1)
}

// budget reads what a plugin may ask of a model in one run.
func (d *decoder) budget(n *node) *abi.Budget {
	b := &abi.Budget{}
	readMapping(d, n, modelBudgetKeys, b)
	if n.kind == kindMapping {
		d.require(n, "the budget", "calls", "it, as in {calls: 4, tokens: 8000}; both are for one run")
		d.require(n, "the budget", "tokens", "it, as in {calls: 4, tokens: 8000}; both are for one run")
	}
	return b
}

// readableParts are what grant.read may list, beside context:SOURCE.
var readableParts = append(abi.ReadParts[:len(abi.ReadParts):len(abi.ReadParts)], "context:*")

func (d *decoder) readRight(n *node) (string, bool) {
	if n.kind == kindMapping && len(n.entries) == 1 && n.entries[0].key == "context" {
		d.fault(n, "put it in quotes without the space, as in \"context:in_memory\"", "text was wanted, and a mapping is there")
		return "", false
	}
	if source, ok := strings.CutPrefix(n.text, "context:"); ok && n.kind == kindText && sourceIDForm.MatchString(source) {
		return n.text, true
	}
	if n.kind == kindText && slices.Contains(readableParts, n.text) {
		return n.text, true
	}
	d.fault(n, didYouMean(n.text, readableParts), "one of %s, context:SOURCE was wanted, and %s is there",
		strings.Join(readableParts, ", "), n.have())
	return "", false
}

// folderKeys are the keys of one entry of grant.files.
var folderKeys = []key[wasm.Folder]{
	{"host", func(d *decoder, n *node, f *wasm.Folder) { f.Host = d.existingFolder(n) }},
	{"guest", func(d *decoder, n *node, f *wasm.Folder) {
		name, ok := d.line(n, "a path under which the plugin sees the folder")
		if ok && (!path.IsAbs(name) || path.Clean(name) != name) {
			d.fault(n, "begin with / and leave out . and ..", "an absolute path such as /docs was wanted, and %s is there", n.have())
		}
		f.Guest = name
	}},
	{"mode", func(d *decoder, n *node, f *wasm.Folder) { f.Mode, _ = d.oneOf(n, abi.Modes...) }},
}

// folder reads one entry of grant.files.
func (d *decoder) folder(n *node, before []wasm.Folder) (wasm.Folder, bool) {
	f := wasm.Folder{Mode: "ro"}
	readMapping(d, n, folderKeys, &f)
	if n.kind != kindMapping {
		return f, false
	}
	for _, name := range []string{"host", "guest"} {
		if _, ok := n.find(name); !ok {
			d.fault(n, "add it, as in {host: ./docs, guest: /docs, mode: ro}", "the folder has no %s", name)
		}
	}
	if f.Guest != "" && slices.ContainsFunc(before, func(b wasm.Folder) bool { return b.Guest == f.Guest }) {
		d.fault(n, "give one of them another", "two folders have the guest path %s", quotedPath(f.Guest))
	}
	return f, true
}
