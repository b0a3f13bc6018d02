package main

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

// config is the plugin's configuration; config.schema.json says the same to the host.
type config struct {
	Rules  []rule
	Window int
}

// rule is what a guard looks for, and what it does about it.
type rule struct {
	Name              string
	Pattern           *regexp.Regexp
	valid             func(match string) bool // nil takes every match
	Request, Response bool
	Block             bool
	Replace           string
	Message           string
}

// loaded is the configuration that init read. Every call starts from the memory that init left, so patterns are compiled
// once.
var loaded *config

func configured(in *pdk.Base) (*config, error) {
	if loaded != nil {
		return loaded, nil
	}
	c := &config{Window: 256}
	if err := in.ReadConfig(c); err != nil {
		return nil, err
	}
	loaded = c
	return c, nil
}

// ReadJSON reads the configuration.
func (c *config) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "presets":
			for _, preset := range r.Strings() {
				made, ok := presets[preset]
				if !ok {
					r.Fail("there is no preset " + strconv.Quote(preset))
					return
				}
				made.Name, made.Replace, made.Request, made.Response = preset, "["+preset+"]", true, true
				c.Rules = append(c.Rules, made)
			}
		case "rules":
			for range r.Array() {
				var read ruleJSON
				read.ReadJSON(r)
				if made, ok := read.rule(r); ok {
					c.Rules = append(c.Rules, made)
				}
			}
		case "window":
			c.Window = r.Within(16, 4096)
		}
	}
}

// ruleJSON is a rule as it is written.
type ruleJSON struct {
	name, regexp, action, replace, message string
	words, in                              []string
}

// ReadJSON reads a rule.
func (c *ruleJSON) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "name":
			c.name = r.String()
		case "regexp":
			c.regexp = r.String()
		case "words":
			c.words = r.Strings()
		case "in":
			c.in = r.Strings()
		case "action":
			c.action = r.String()
		case "replace":
			c.replace = r.String()
		case "message":
			c.message = r.String()
		}
	}
}

// rule makes the rule that is written.
func (c *ruleJSON) rule(r *json.Reader) (rule, bool) {
	text := c.regexp
	if text == "" {
		quoted := make([]string, len(c.words))
		for i, w := range c.words {
			quoted[i] = regexp.QuoteMeta(w)
		}
		text = `(?i)\b(?:` + strings.Join(quoted, "|") + `)\b`
	}
	pattern, err := regexp.Compile(text)
	if err != nil {
		r.Fail("rule " + strconv.Quote(c.name) + ": " + err.Error())
		return rule{}, false
	}
	if pattern.MatchString("") {
		r.Fail("rule " + strconv.Quote(c.name) + " matches nothing at all, and so everything: leave no part of it optional")
		return rule{}, false
	}
	made := rule{
		Name: c.name, Pattern: pattern, Block: c.action == "block", Replace: c.replace, Message: c.message,
		Request: len(c.in) == 0, Response: len(c.in) == 0,
	}
	for _, where := range c.in {
		made.Request = made.Request || where == "request"
		made.Response = made.Response || where == "response"
	}
	if made.Replace == "" {
		made.Replace = "[" + c.name + "]"
	}
	if made.Message == "" {
		made.Message = "I cannot help with that."
	}
	return made, true
}
