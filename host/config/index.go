package config

import (
	"os"
	"regexp"
	"slices"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host/wasm"
)

// Index is one entry of indexes.
type Index struct {
	// Line and Column are where the index is named.
	Line, Column int
	// Name is what plugins call it.
	Name string
	// Folder holds documents that are put into it when it is opened, and where [Reload] has plugins watched, when they change;
	// empty for none.
	Folder string
	// File is where it is kept. Empty keeps it in memory.
	File string

	path string
}

var indexForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// indexKeys are the keys of an index.
var indexKeys = []key[Index]{
	{"folder", func(d *decoder, n *node, i *Index) { i.Folder = d.existingFolder(n) }},
	{"file", func(d *decoder, n *node, i *Index) { i.File = d.database(n) }},
}

func readIndexes(d *decoder, n *node, c *Config) {
	d.byName(n, "a mapping of indexes", func(name string, n *node) {
		i := Index{Line: n.line, Column: n.column, Name: name, path: n.path}
		if !indexForm.MatchString(name) {
			d.fault(n, "use snake_case, at most 64 letters, digits and _, a letter first", "%q is no name of an index", shortened(name))
		}
		readMapping(d, n, indexKeys, &i)
		c.Indexes = append(c.Indexes, i)
	})
}

// database reads the path of a database, which need not be there, and may be used once.
func (d *decoder) database(n *node) string {
	name, ok := d.line(n, "the path of a database")
	if !ok {
		return ""
	}
	file := d.resolve(name)
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		d.fault(n, "name a file", "%s is no regular file", quotedPath(name))
	}
	if line, taken := d.databases[file]; taken {
		d.fault(n, "give each a file of its own", "the database %s is used already, in line %d", quotedPath(name), line)
	}
	d.databases[file] = n.line
	return file
}

// storageMemory is the word for storage that is kept in memory.
const storageMemory = "memory"

func readStorage(d *decoder, n *node, c *Config) {
	c.storageAt = place{n.line, n.column}
	if n.kind == kindText && n.text == storageMemory {
		c.Storage = ""
		return
	}
	c.Storage = d.database(n)
}

// searchKeys are the keys of an entry of search that is a mapping.
var searchKeys = []key[abi.SearchGrant]{
	{"index", func(d *decoder, n *node, s *abi.SearchGrant) { s.Index = d.indexName(n) }},
	{"mode", func(d *decoder, n *node, s *abi.SearchGrant) { s.Mode, _ = d.oneOf(n, abi.Modes...) }},
}

// readSearch reads the indexes that a plugin may search.
func readSearch(d *decoder, n *node, g *wasm.Grants) {
	d.list(n, "a list of indexes", func(n *node) {
		s := abi.SearchGrant{Mode: "ro"}
		if n.kind == kindMapping {
			readMapping(d, n, searchKeys, &s)
			d.require(n, "the entry", "index", "it, as in {index: docs, mode: ro}")
		} else {
			s.Index = d.indexName(n)
		}
		if s.Index != "" && slices.ContainsFunc(g.Search, func(b abi.SearchGrant) bool { return b.Index == s.Index }) {
			d.fault(n, "remove one of them", "the index %s stands twice", s.Index)
		}
		g.Search = append(g.Search, s)
	})
}

// indexName reads the name of an index. Whether there is one is known only when the whole file is read.
func (d *decoder) indexName(n *node) string {
	name, ok := d.line(n, "the name of an index")
	if ok {
		d.searched = append(d.searched, n)
	}
	return name
}

// checkIndexes finds names of indexes that the config does not have.
func (d *decoder) checkIndexes(c *Config) {
	names := make([]string, len(c.Indexes))
	for i, one := range c.Indexes {
		names[i] = one.Name
	}
	for _, n := range d.searched {
		if slices.Contains(names, n.text) {
			continue
		}
		hint := didYouMean(n.text, names)
		if hint == "" {
			hint = "add to the config: indexes: {" + shortened(n.text) + ": {folder: FOLDER}}"
		}
		d.fault(n, hint, "unknown index %q", shortened(n.text))
	}
}
