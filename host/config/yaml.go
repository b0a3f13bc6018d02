package config

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// What a config may be at most. The parser's work grows with the square of the tokens, its stack with the nesting.
const (
	maxSize   = 1 << 20
	maxTokens = 50_000
	maxDepth  = 64
)

type kind string

const (
	kindNull    kind = "nothing"
	kindBool    kind = "true or false"
	kindNumber  kind = "a number"
	kindText    kind = "text"
	kindList    kind = "a list"
	kindMapping kind = "a mapping"
)

// node is a YAML value with its place.
type node struct {
	kind         kind
	line, column int
	path         string
	// text is a scalar's value. A number's is as it was written.
	text string
	// items are the values of a list, entries those of a mapping, each key once.
	items   []*node
	entries []entry
}

type entry struct {
	key          string
	line, column int
	// value is nil where it was refused.
	value *node
}

// find returns the entry of a key, and whether there is one.
func (n *node) find(key string) (entry, bool) {
	for _, e := range n.entries {
		if e.key == key {
			return e, true
		}
	}
	return entry{}, false
}

// parseYAML turns a file into a tree. What is wrong with the YAML itself goes to c; the tree is nil where there is none.
func parseYAML(c *collector, data []byte) *node {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(data) > maxSize {
		c.add(0, 0, "", "", "the file has %d bytes; a config has at most %d", len(data), maxSize)
		return nil
	}
	if at := firstBad(data); at >= 0 {
		line := 1 + bytes.Count(data[:at], []byte("\n"))
		column := at - bytes.LastIndexByte(data[:at], '\n')
		c.add(line, column, "", "save the file as UTF-8 text", "the byte 0x%02x is no text", data[at])
		return nil
	}
	tokens := lexer.Tokenize(string(data))
	if t, what := tooMuch(tokens); t != nil {
		c.add(t.Position.Line, t.Position.Column, "", "", "%s", what)
		return nil
	}
	file, err := parseTokens(tokens)
	if err != nil {
		syntaxFault(c, err)
		return nil
	}
	var body ast.Node
	for _, doc := range file.Docs {
		at := positionOf(doc)
		switch _, directive := doc.Body.(*ast.DirectiveNode); {
		case directive:
			c.add(at.Line, at.Column, "", "remove the line", "a directive is not read")
			return nil
		case body != nil:
			c.add(at.Line, at.Column, "", "remove the line ---", "a second document begins; a config is one")
			return nil
		}
		body = doc.Body
	}
	if body == nil {
		c.add(1, 1, "", "begin with name: and model:", "the config is empty")
		return nil
	}
	b := &treeBuilder{collector: c}
	return b.node(body, "", 0)
}

// firstBad is the place of the first byte that is no UTF-8 or a control character, or -1.
func firstBad(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		control := r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f
		if r == utf8.RuneError && size == 1 || control {
			return i
		}
		i += size
	}
	return -1
}

// tooMuch finds what would keep the parser busy, or overflow its stack, before it sees it.
func tooMuch(tokens token.Tokens) (*token.Token, string) {
	if len(tokens) > maxTokens {
		return tokens[maxTokens], fmt.Sprintf("the config has %d words and signs up to here; at most %d are read", maxTokens, maxTokens)
	}
	flow, block, line := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, block = t.Position.Line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType:
			block++
		}
		if flow+block > maxDepth {
			return t, fmt.Sprintf("the config nests deeper than %d levels", maxDepth)
		}
	}
	return nil, ""
}

// parseTokens guards the parser, which is not ours: a panic in it is a syntax error too.
func parseTokens(tokens token.Tokens) (file *ast.File, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the file cannot be read as YAML (%v)", v)
		}
	}()
	return parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // duplicates are told with their first place below
}

func syntaxFault(c *collector, err error) {
	var e yaml.Error
	if !errors.As(err, &e) || e.GetToken() == nil {
		c.add(0, 0, "", "", "not valid YAML: %v", err)
		return
	}
	at, hint := e.GetToken().Position, ""
	if strings.ContainsRune(e.GetMessage(), '\t') {
		hint = "indent with spaces; YAML takes no tabs"
	}
	message := strings.ReplaceAll(e.GetMessage(), "character '\t'", "a tab")
	c.add(at.Line, at.Column, "", hint, "not valid YAML: %s", message)
}

// positionOf is where a node begins. A block mapping's own token is its first colon.
func positionOf(n ast.Node) *token.Position {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return positionOf(n.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return positionOf(n.Key)
	case *ast.DocumentNode:
		if n.Start != nil {
			return n.Start.Position
		}
		if n.Body != nil {
			return positionOf(n.Body)
		}
		return &token.Position{Line: 1, Column: 1}
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position
	}
	return &token.Position{Line: 1, Column: 1}
}

// treeBuilder turns the parser's tree into ours and refuses what a config has no use for.
type treeBuilder struct{ *collector }

func (b *treeBuilder) refuse(n ast.Node, path, hint, format string, args ...any) *node {
	at := positionOf(n)
	b.add(at.Line, at.Column, path, hint, format, args...)
	return nil
}

// node returns nil for what was refused.
func (b *treeBuilder) node(n ast.Node, path string, depth int) *node {
	if depth > maxDepth {
		return b.refuse(n, "", "", "the config nests deeper than %d levels", maxDepth)
	}
	at := positionOf(n)
	out := &node{line: at.Line, column: at.Column, path: path}
	switch n := n.(type) {
	case *ast.NullNode:
		out.kind = kindNull
	case *ast.BoolNode:
		out.kind, out.text = kindBool, fmt.Sprint(n.Value)
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		out.kind, out.text = kindNumber, n.GetToken().Value
	case *ast.StringNode:
		out.kind, out.text = kindText, n.Value
		if n.Token.Type == token.StringType && jsonNumber.MatchString(n.Value) {
			out.kind = kindNumber // the parser gives up on numbers that no Go type holds
		}
	case *ast.LiteralNode:
		out.kind, out.text = kindText, n.Value.Value
	case *ast.SequenceNode:
		out.kind = kindList
		for i, v := range n.Values {
			if item := b.node(v, fmt.Sprintf("%s[%d]", path, i), depth+1); item != nil {
				out.items = append(out.items, item)
			}
		}
	case *ast.MappingNode:
		out.kind = kindMapping
		b.entries(out, n.Values, depth)
	case *ast.MappingValueNode:
		out.kind = kindMapping
		b.entries(out, []*ast.MappingValueNode{n}, depth)
	case *ast.AnchorNode, *ast.AliasNode:
		return b.refuse(n, path, "write the value out", "anchors and aliases are not read")
	case *ast.TagNode:
		return b.refuse(n, path, "remove it; quotes make text of anything", "the tag %q is not read", n.GetToken().Value)
	default:
		return b.refuse(n, path, "", "a %s is not read", strings.ToLower(n.Type().String()))
	}
	return out
}

// jsonNumber is the one form in which numbers are taken.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// plainKey is a key that needs no quotes in a path.
var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func (b *treeBuilder) entries(out *node, values []*ast.MappingValueNode, depth int) {
	first := map[string]entry{}
	for _, v := range values {
		key, ok := v.Key.(*ast.StringNode)
		if !ok {
			if v.Key.IsMergeKey() {
				b.refuse(v.Key, out.path, "write the keys out", "the merge key << is not read")
			} else {
				b.refuse(v.Key, out.path, "put it in quotes", "a key must be text, and %q is none", v.Key.GetToken().Value)
			}
			continue
		}
		at := positionOf(key)
		path := key.Value
		if !plainKey.MatchString(path) {
			path = strconv.Quote(path)
		}
		if out.path != "" {
			path = out.path + "." + path
		}
		if other, ok := first[key.Value]; ok {
			b.add(at.Line, at.Column, path, "remove one of them", "the key stands twice, first in line %d", other.line)
			continue
		}
		e := entry{key: key.Value, line: at.Line, column: at.Column, value: b.node(v.Value, path, depth+1)}
		first[key.Value] = e
		out.entries = append(out.entries, e)
	}
}
