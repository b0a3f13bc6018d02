package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

// The ways to find facts.
const (
	findSearch = "search"
	findEmbed  = "embed"
)

// config is the plugin's configuration; config.schema.json says the same to the host.
type config struct {
	User     string
	Find     string
	Index    string
	MaxFacts int
	MaxAdded int
	MinScore float64
	Tool     bool
}

func readConfig(base *pdk.Base) (*config, error) {
	c := &config{User: "default", Find: findSearch, Index: "memory", MaxFacts: 500, MaxAdded: 5}
	return c, base.ReadConfig(c)
}

// ReadJSON reads the configuration, which the host held against the schema.
func (c *config) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "user":
			c.User = r.String()
		case "find":
			c.Find = r.String()
		case "index":
			c.Index = r.String()
		case "max_facts":
			c.MaxFacts = r.Int()
		case "max_added":
			c.MaxAdded = r.Int()
		case "min_score":
			c.MinScore = r.Float()
		case "tool":
			c.Tool = r.Bool()
		}
	}
}

// embedCalls is how often a run embeds where facts are found so: what is asked for, and what is new.
const embedCalls = 2

// missing is the error that says which rights the configuration needs beyond those that are given.
func (c *config) missing(given pdk.Grants) error {
	var reasons, lines []string
	switch {
	case c.Find == findSearch && !mayWrite(given.Search, c.Index):
		reasons = append(reasons, "find: search reads and writes the index "+strconv.Quote(c.Index))
		lines = append(lines, "search: [{index: "+yamlWord(c.Index)+", mode: rw}]")
	case c.Find == findEmbed && (given.Embed == nil || given.Embed.Calls < embedCalls):
		reasons = append(reasons, "find: embed asks for vectors twice in a run")
		lines = append(lines, "embed: {calls: "+strconv.Itoa(embedCalls)+", tokens: 8000}")
	}
	if c.Tool && !slices.Contains(given.Add, "tools") {
		reasons = append(reasons, "tool: true adds a tool")
		lines = append(lines, "add: ["+strings.Join(append(slices.Clone(given.Add), "tools"), ", ")+"]")
	}
	if len(lines) == 0 {
		return nil
	}
	return pdk.NewError(pdk.CodeDenied, strings.Join(reasons, ", and ")+
		", and the grant does not give it; these lines of the plugin's entry do:\ngrant:\n  "+strings.Join(lines, "\n  "))
}

func mayWrite(given []pdk.SearchGrant, index string) bool {
	return slices.ContainsFunc(given, func(g pdk.SearchGrant) bool { return g.Index == index && g.Mode == "rw" })
}

// yamlWord is a name as it can stand in YAML.
func yamlWord(name string) string {
	plain := strings.IndexFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-' && r != '_'
	}) < 0
	if plain {
		return name
	}
	return string(json.String(name))
}

// state is what the plugin keeps of a session: the runs that it has heard.
type state struct{ Runs []string }

// mostRuns is how many of them it keeps, so that a run that is told again is not heard again.
const mostRuns = 16

func (s *state) has(run string) bool { return slices.Contains(s.Runs, run) }

func (s *state) add(run string) {
	s.Runs = append(s.Runs, run)
	s.Runs = s.Runs[max(0, len(s.Runs)-mostRuns):]
}

// ReadJSON reads what was kept.
func (s *state) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		if name == "runs" {
			s.Runs = r.Strings()
		}
	}
}

// WriteJSON writes what is to be kept.
func (s *state) WriteJSON(w *json.Writer) {
	w.Object(func() { w.Name("runs").Strings(s.Runs) })
}
