package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
	"github.com/weft-run/weft/pdk/go/web"
)

var freshness = map[string]string{"day": "pd", "week": "pw", "month": "pm", "year": "py"}

// brave searches by the Web Search API of Brave.
func (c *config) brave(question string, f *found) error {
	answer := braveAnswer{found: f}
	err := web.Request{
		Service: "Brave Search",
		URL: c.call("/res/v1/web/search") + web.Query(
			"q", words(question),
			"count", strconv.Itoa(f.most),
			"search_lang", c.Language,
			"country", c.Country,
			"safesearch", c.SafeSearch,
			"freshness", freshness[c.TimeRange],
			"text_decorations", "false",
			"result_filter", "web",
		),
		Headers: map[string]string{"X-Subscription-Token": "{{secret." + secretName + "}}"},
		Remedies: map[int]string{
			401: "check the secret " + secretName,
			403: "check the secret " + secretName + " and what its plan includes",
			404: "check endpoint in the config",
		},
	}.Read(&answer)
	// A key that is wrong is one of the things that Brave calls unprocessable.
	if coded, ok := errors.AsType[*pdk.Error](err); ok && strings.Contains(coded.Message, "SUBSCRIPTION_TOKEN") {
		return pdk.NewError(pdk.CodeDenied, coded.Message+": check the secret "+secretName)
	}
	return err
}

// braveAnswer reads the results into found. An answer without web is one without results.
type braveAnswer struct{ *found }

func (a *braveAnswer) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		if name != "web" || r.Null() {
			continue
		}
		for name := range r.Object() {
			if name == "results" {
				a.results(r)
			}
		}
	}
}

func (a *braveAnswer) results(r *json.Reader) {
	var url, title, description, more string
	objects(r, func(name string) {
		switch name {
		case "url":
			url = text(r)
		case "title":
			title = text(r)
		case "description":
			description = text(r)
		case "extra_snippets":
			more = texts(r)
		}
	}, func() {
		a.add(url, title, description+"\n"+more)
		url, title, description, more = "", "", "", ""
	})
}
