package config

import (
	"encoding/hex"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/message"
)

// pluginKeys are the keys of a provider that is a plugin.
var pluginKeys = []key[wasm.Config]{
	{"plugin", func(d *decoder, n *node, p *wasm.Config) { p.Path = d.pluginFile(n) }},
	{"source_id", func(d *decoder, n *node, p *wasm.Config) { p.SourceID, _ = d.sourceID(n) }},
	{"sha256", readDigest},
	{"config", func(d *decoder, n *node, p *wasm.Config) {
		if d.is(n, kindMapping, "a mapping, the plugin's own config,") {
			p.Config = d.appendJSON(nil, n)
		}
	}},
	{"grant", func(d *decoder, n *node, p *wasm.Config) { readMapping(d, n, grantKeys, &p.Grants) }},
	{"limits", func(d *decoder, n *node, p *wasm.Config) { readMapping(d, n, limitKeys, &p.Limits) }},
	{"on_error", func(d *decoder, n *node, p *wasm.Config) {
		if policy, ok := d.oneOf(n, string(host.OnErrorFail), string(host.OnErrorSkip)); ok {
			p.OnError = host.ErrorPolicy(policy)
		}
	}},
	{"isolation", func(d *decoder, n *node, p *wasm.Config) {
		mode, _ := d.oneOf(n, "clean", "shared")
		p.Shared = mode == "shared"
	}},
}

// pluginFile reads the path of a module, which must be there.
func (d *decoder) pluginFile(n *node) string {
	name, ok := d.line(n, "the path of a .wasm file")
	if !ok {
		return ""
	}
	file := d.resolve(name)
	info, err := os.Stat(file)
	switch {
	case err != nil:
		d.fault(n, missingHint(file), "plugin file %s cannot be used: %v", quotedPath(name), reason(err))
	case !info.Mode().IsRegular():
		d.fault(n, "name the plugin's .wasm file", "%s is no regular file", quotedPath(name))
	}
	return file
}

// missingHint names the file beside the missing one that was likely meant.
func missingHint(file string) string {
	entries, _ := os.ReadDir(filepath.Dir(file))
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".wasm") {
			names = append(names, e.Name())
		}
	}
	if hint := didYouMean(filepath.Base(file), names); hint != "" {
		return hint
	}
	return "check the path, which begins at the config's folder, or build the plugin first"
}

func (d *decoder) resolve(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(d.dir, filepath.FromSlash(name))
}

func readDigest(d *decoder, n *node, p *wasm.Config) {
	const wanted = "a SHA-256 (64 hex digits)"
	if n.kind == kindNumber {
		n = &node{kind: kindText, line: n.line, column: n.column, path: n.path, text: n.text} // all digits, by chance
	}
	if !d.is(n, kindText, wanted) {
		return
	}
	if raw, err := hex.DecodeString(n.text); err != nil || len(raw) != 32 {
		d.fault(n, "weft inspect FILE shows it", "%s was wanted, and %s with %d characters is there", wanted, n.have(), len(n.text))
		return
	}
	p.SHA256 = strings.ToLower(n.text)
}

// grantKeys are the keys of grant.
var grantKeys = []key[wasm.Grants]{
	{"read", func(d *decoder, n *node, g *wasm.Grants) {
		g.Read = d.words(n, "a list of what the plugin may read", d.readRight)
	}},
	{"add", func(d *decoder, n *node, g *wasm.Grants) {
		g.Add = d.words(n, "a list of what the plugin may add", func(n *node) (string, bool) {
			return d.oneOf(n, "messages", "instructions", "metadata")
		})
	}},
	{"roles", func(d *decoder, n *node, g *wasm.Grants) {
		names := d.words(n, "a list of roles", func(n *node) (string, bool) { return d.oneOf(n, roleNames()...) })
		g.Roles = []message.Role{}
		for _, name := range names {
			g.Roles = append(g.Roles, message.Role(name))
		}
	}},
	{"files", func(d *decoder, n *node, g *wasm.Grants) {
		d.list(n, "a list of folders", func(n *node) {
			if f, ok := d.folder(n, g.Files); ok {
				g.Files = append(g.Files, f)
			}
		})
	}},
}

func roleNames() []string {
	names := make([]string, len(message.Roles))
	for i, r := range message.Roles {
		names[i] = string(r)
	}
	return names
}

// readableParts are what grant.read may list, beside context:SOURCE.
var readableParts = []string{"input", "response", "options", "metadata", "context:*"}

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
	{"host", func(d *decoder, n *node, f *wasm.Folder) {
		name, ok := d.line(n, "the path of a folder")
		if !ok {
			return
		}
		f.Host = d.resolve(name)
		if info, err := os.Stat(f.Host); err != nil {
			d.fault(n, "make the folder, or name another", "folder %s cannot be used: %v", quotedPath(name), reason(err))
		} else if !info.IsDir() {
			d.fault(n, "name a folder", "%s is no folder", quotedPath(name))
		}
	}},
	{"guest", func(d *decoder, n *node, f *wasm.Folder) {
		name, ok := d.line(n, "a path under which the plugin sees the folder")
		if ok && (!path.IsAbs(name) || path.Clean(name) != name) {
			d.fault(n, "begin with / and leave out . and ..", "an absolute path such as /docs was wanted, and %s is there", n.have())
		}
		f.Guest = name
	}},
	{"mode", func(d *decoder, n *node, f *wasm.Folder) { f.Mode, _ = d.oneOf(n, "ro") }},
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
