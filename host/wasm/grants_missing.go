package wasm

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-run/weft/abi"
)

// asked are the rights that the plugin asks for: those that it describes, with the origins that its config names (clause
// GRA-8), and that of standing where it stands. They are there as far as they are known, also where there is an error.
func (v *version) asked() (*abi.Grants, error) {
	var asked *abi.Grants
	var err error
	if d := v.description.Grants; d != nil {
		resolved, failed := resolveOrigins(*d, v.config)
		asked, err = &resolved, failed
	}
	if v.layer != "" && (v.wraps() || v.layer != abi.LayerContext) && (asked == nil || !asked.CanStand(v.layer)) {
		standing := abi.Grants{}
		if asked != nil {
			standing = *asked
		}
		standing.Middleware = append(slices.Clip(standing.Middleware), v.layer)
		asked = &standing
	}
	return asked, err
}

// missing are the lines to add to a grant so that it holds all that is asked for; nil if it does already. A list stands
// there as a whole, with what is given already, as one in the configuration replaces the list before it. Origins that are
// asked for are resolved already (clause GRA-8).
func missing(asked, given *abi.Grants) []string {
	if asked == nil {
		return nil
	}
	m := missingLines{}
	m.words("read", asked.Read, given.Read)
	m.words("add", asked.Add, given.Add)
	m.words("roles", texts(asked.Roles), texts(given.Roles))
	m.words("change", asked.Change, given.Change)
	m.words("middleware", texts(asked.Middleware), texts(given.Middleware))
	m.words("kv", asked.KV, given.KV)
	m.budget("complete", asked.Complete, given.Complete)
	m.budget("embed", asked.Embed, given.Embed)
	m.search(asked.Search, given.Search)
	m.words("events", asked.Events, given.Events)
	m.http(asked.HTTP, given.HTTP)
	m.files(asked.Files, given.Files)
	return m.lines
}

// missingLines gathers the lines of the members of a grant.
type missingLines struct{ lines []string }

func (m *missingLines) line(format string, args ...any) {
	m.lines = append(m.lines, fmt.Sprintf(format, args...))
}

// words is a list of words.
func (m *missingLines) words(name string, asked, given []string) {
	all := slices.Clone(given)
	for _, word := range asked {
		covered := func(have string) bool { return (right{list: name, word: have}).covers(right{list: name, word: word}) }
		if !slices.ContainsFunc(all, covered) {
			all = append(all, word)
		}
	}
	if len(all) > len(given) {
		m.line("%s: %s", name, yamlWords(all))
	}
}

// budget is the larger of both, count by count.
func (m *missingLines) budget(name string, asked, given *abi.Budget) {
	if asked == nil {
		return
	}
	if given == nil {
		given = &abi.Budget{}
	}
	if asked.Calls > given.Calls || asked.Tokens > given.Tokens {
		m.line("%s: {calls: %d, tokens: %d}", name, max(asked.Calls, given.Calls), max(asked.Tokens, given.Tokens))
	}
}

func (m *missingLines) search(asked, given []abi.SearchGrant) {
	all, more := slices.Clone(given), false
	for _, s := range asked {
		at := slices.IndexFunc(all, func(g abi.SearchGrant) bool { return g.Index == s.Index })
		switch {
		case at < 0:
			all, more = append(all, s), true
		case s.Mode == "rw" && all[at].Mode != "rw":
			all[at].Mode, more = "rw", true
		}
	}
	if !more {
		return
	}
	items := make([]string, len(all))
	for i, s := range all {
		items[i] = fmt.Sprintf("{index: %s, mode: %s}", yamlWord(s.Index), searchMode(s))
	}
	m.line("search: [%s]", strings.Join(items, ", "))
}

func (m *missingLines) http(asked, given []abi.HTTPGrant) {
	all, more := slices.Clone(given), false
	for _, a := range asked {
		at := slices.IndexFunc(all, func(g abi.HTTPGrant) bool { return originText(g) == originText(a) })
		if at < 0 {
			all, more = append(all, a), true
			continue
		}
		joined, wider := joinedHTTP(all[at], a)
		all[at], more = joined, more || wider
	}
	if !more {
		return
	}
	m.line("http:")
	var secrets []string
	for _, h := range all {
		m.line("  - %s", httpEntry(h))
		for _, name := range h.Secrets {
			known := func(g abi.HTTPGrant) bool { return slices.Contains(g.Secrets, name) }
			if text := yamlWord(name) + ": {env: VARIABLE}"; !slices.ContainsFunc(given, known) && !slices.Contains(secrets, text) {
				secrets = append(secrets, text)
			}
		}
	}
	if secrets != nil {
		m.line("  # and beside grant, where the values come from: secrets: {%s}", strings.Join(secrets, ", "))
	}
}

// joinedHTTP is one grant that holds both, and whether that is more than the first.
func joinedHTTP(given, asked abi.HTTPGrant) (abi.HTTPGrant, bool) {
	out, wider := given, false
	switch {
	case len(given.Methods) == 0: // all of them
	case len(asked.Methods) == 0:
		out.Methods, wider = nil, true
	default:
		out.Methods = union(given.Methods, asked.Methods)
		wider = len(out.Methods) > len(given.Methods)
	}
	out.Secrets = union(given.Secrets, asked.Secrets)
	out.Private = given.Private || asked.Private
	return out, wider || len(out.Secrets) > len(given.Secrets) || out.Private != given.Private
}

// httpEntry is an entry of http: an origin alone, or a mapping.
func httpEntry(h abi.HTTPGrant) string {
	origin := h.Origin
	if origin == "" {
		origin = "ORIGIN"
	}
	keys := []string{"origin: " + yamlOrigin(origin)}
	if len(h.Methods) > 0 {
		keys = append(keys, "methods: "+yamlWords(h.Methods))
	}
	if len(h.Secrets) > 0 {
		keys = append(keys, "secrets: "+yamlWords(h.Secrets))
	}
	if h.Private {
		keys = append(keys, "private: true")
	}
	if len(keys) == 1 {
		return yamlOrigin(origin)
	}
	return "{" + strings.Join(keys, ", ") + "}"
}

// files lists only what is missing: where the folders are that are given, rights do not say.
func (m *missingLines) files(asked, given []abi.FileGrant) {
	all := slices.Clone(given)
	var more []string
	for _, f := range asked {
		has := func(g abi.FileGrant) bool { return g.Guest == f.Guest && (f.Mode != "rw" || g.Mode == "rw") }
		if !slices.ContainsFunc(all, has) {
			all = append(all, f)
			entry := fmt.Sprintf("  - {host: FOLDER, guest: %s, mode: %s}", yamlWord(f.Guest), cmp.Or(f.Mode, "ro"))
			if slices.ContainsFunc(given, func(g abi.FileGrant) bool { return g.Guest == f.Guest }) {
				entry += " # in place of the one that it has there"
			}
			more = append(more, entry)
		}
	}
	switch {
	case more == nil:
		return
	case len(given) > 0:
		m.line("files: # and those that it has")
	default:
		m.line("files:")
	}
	m.lines = append(m.lines, more...)
}

// union is a list with what another has more.
func union(list, more []string) []string {
	all := slices.Clone(list)
	for _, word := range more {
		if !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	return all
}

func yamlWords(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = yamlWord(w)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

var (
	plainWord   = regexp.MustCompile(`^[A-Za-z_/][A-Za-z0-9_./-]*$`)
	notText     = regexp.MustCompile(`(?i)^(true|false|null|yes|no|on|off|y|n)$`)
	plainOrigin = regexp.MustCompile(`^https?://[A-Za-z0-9._-]+(:[0-9]+)?$`)
)

// yamlWord is a text as YAML has it, in quotes unless it can be taken for nothing else. A plugin may have written it.
func yamlWord(text string) string {
	if plainWord.MatchString(text) && !notText.MatchString(text) {
		return text
	}
	return strconv.QuoteToASCII(text)
}

func yamlOrigin(text string) string {
	if plainOrigin.MatchString(text) {
		return text
	}
	return yamlWord(text)
}
