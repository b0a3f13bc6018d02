package config

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
)

// Plugin is an entry of the providers or of the middleware that is a WebAssembly plugin.
type Plugin struct {
	// Line and Column are where the plugin is named, and Place is the same in the config's own words, such as providers[1].
	Line, Column int
	Place        string
	// Wasm says which plugin it is and what it may do. Its secrets, services and logger are put in by Build.
	Wasm wasm.Config
	// Secrets say where the values of its secrets are, by name.
	Secrets map[string]Secret
}

// pluginKeys are the keys of every plugin.
var pluginKeys = []key[Plugin]{
	{"plugin", func(d *decoder, n *node, p *Plugin) { p.Wasm.Path = d.pluginFile(n) }},
	{"source_id", func(d *decoder, n *node, p *Plugin) { p.Wasm.SourceID, _ = d.sourceID(n) }},
	{"sha256", readDigest},
	{"config", func(d *decoder, n *node, p *Plugin) {
		if d.is(n, kindMapping, "a mapping, the plugin's own config,") {
			p.Wasm.Config = d.appendJSON(nil, n)
		}
	}},
	{"grant", func(d *decoder, n *node, p *Plugin) { readMapping(d, n, grantKeys, &p.Wasm.Grants) }},
	{"secrets", readSecrets},
	{"limits", func(d *decoder, n *node, p *Plugin) { readMapping(d, n, limitKeys, &p.Wasm.Limits) }},
	{"on_error", func(d *decoder, n *node, p *Plugin) {
		if policy, ok := d.oneOf(n, string(host.OnErrorFail), string(host.OnErrorSkip)); ok {
			p.Wasm.OnError = host.ErrorPolicy(policy)
		}
	}},
	{"isolation", func(d *decoder, n *node, p *Plugin) {
		mode, _ := d.oneOf(n, "clean", "shared")
		p.Wasm.Shared = mode == "shared"
	}},
}

// layerKeys are the further keys of a plugin that stands among the middleware.
var layerKeys = []key[Plugin]{
	{"layer", func(d *decoder, n *node, p *Plugin) {
		word, _ := d.oneOf(n, string(abi.LayerAgent), string(abi.LayerChat), string(abi.LayerFunction))
		p.Wasm.Layer = abi.Layer(word)
	}},
}

// plugin reads an entry that is a plugin, by the tables of the place where it stands. The entry has the key plugin.
func (d *decoder) plugin(n *node, keys ...[]key[Plugin]) *Plugin {
	named, _ := n.find("plugin")
	p := &Plugin{Line: named.line, Column: named.column, Place: n.path, Wasm: wasm.Config{OnError: host.OnErrorFail}}
	readMapping(d, n, slices.Concat(keys...), p)
	d.checkHTTP(n, p)
	return p
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

// existingFolder reads the path of a folder that is there.
func (d *decoder) existingFolder(n *node) string {
	name, ok := d.line(n, "the path of a folder")
	if !ok {
		return ""
	}
	folder := d.resolve(name)
	if info, err := os.Stat(folder); err != nil {
		d.fault(n, "make the folder, or name another", "folder %s cannot be used: %v", quotedPath(name), reason(err))
	} else if !info.IsDir() {
		d.fault(n, "name a folder", "%s is no folder", quotedPath(name))
	}
	return folder
}

func readDigest(d *decoder, n *node, p *Plugin) {
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
	p.Wasm.SHA256 = strings.ToLower(n.text)
}
