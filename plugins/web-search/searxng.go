package main

import (
	"strings"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
	"github.com/weft-run/weft/pdk/go/web"
)

var safeSearchSearXNG = map[string]string{"off": "0", "moderate": "1", "strict": "2"}

// searxng searches by SearXNG's search API.
func (c *config) searxng(question string, f *found) error {
	question = plainWords(words(question))
	if question == "" {
		return nil
	}
	answer := searxngAnswer{found: f}
	err := web.Request{
		Service: "SearXNG",
		URL: c.call("/search") + web.Query(
			"q", question, "format", "json",
			"language", c.Language,
			"safesearch", safeSearchSearXNG[c.SafeSearch],
			"time_range", c.TimeRange,
			"categories", strings.Join(c.Categories, ","),
			"engines", strings.Join(c.Engines, ","),
		),
		Remedies: map[int]string{
			403: "let the instance answer in JSON: add json to search.formats in its settings.yml",
			404: "check endpoint in the config",
			429: "the instance limits this client: ask its operator, or use one of your own",
		},
	}.Read(&answer)
	if err == nil && !answer.complete {
		err = pdk.NewError(pdk.CodeUnavailable, "SearXNG answered with something that is not in its format: it has no results")
	}
	if err == nil && len(f.hits) == 0 && answer.silent != "" {
		pdk.LogWarn("SearXNG found nothing, and had no answer of " + web.Line(answer.silent, 200))
	}
	return err
}

// searxngAnswer reads the results into found. Infoboxes, which say what a name means, come first.
type searxngAnswer struct {
	*found
	complete bool
	// silent are engines that did not answer.
	silent string
}

func (a *searxngAnswer) ReadJSON(r *json.Reader) {
	var results *json.Reader
	for name := range r.Object() {
		switch name {
		case "results":
			at := *r
			results = &at
			r.Raw()
		case "infoboxes":
			a.infoboxes(r)
		case "unresponsive_engines":
			a.unresponsive(r)
		}
	}
	if r.Err() != nil || results == nil {
		return
	}
	a.complete = true
	a.results(results)
	if results.Err() != nil {
		r.Fail("results: an array was wanted, and something else is there")
	}
}

func (a *searxngAnswer) results(r *json.Reader) {
	var url, title, content string
	objects(r, func(name string) {
		switch name {
		case "url":
			url = text(r)
		case "title":
			title = text(r)
		case "content":
			content = text(r)
		}
	}, func() {
		a.add(url, title, content)
		url, title, content = "", "", ""
	})
}

func (a *searxngAnswer) infoboxes(r *json.Reader) {
	if r.Kind() != json.KindArray {
		r.Raw()
		return
	}
	var url, title, content string
	objects(r, func(name string) {
		switch name {
		case "id": // the address of the page, as a rule
			if id := text(r); web.Link(id) != "" {
				url = id
			}
		case "urls":
			if r.Kind() != json.KindArray {
				r.Raw()
				return
			}
			objects(r, func(name string) {
				if name == "url" && url == "" {
					url = text(r)
				}
			}, func() {})
		case "infobox":
			title = text(r)
		case "content":
			content = text(r)
		}
	}, func() {
		a.add(url, title, content)
		url, title, content = "", "", ""
	})
}

// unresponsive reads pairs of an engine and what is wrong with it.
func (a *searxngAnswer) unresponsive(r *json.Reader) {
	if r.Kind() != json.KindArray {
		r.Raw()
		return
	}
	var all []string
	for range r.Array() {
		if engine := texts(r); engine != "" {
			all = append(all, strings.ReplaceAll(engine, "\n", ": "))
		}
	}
	a.silent = strings.Join(all, ", ")
}
