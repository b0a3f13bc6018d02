package main

import (
	"strings"
	"unicode"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

var tools = pdk.Tools{{
	Name: "forget",
	Description: "Deletes what is remembered of the user, for good. Call it when the user takes something back or wants it " +
		"forgotten. The text is the fact, in the words in which it is remembered if they are known.",
	Parameters: `{"type":"object","properties":{"text":{"type":"string","minLength":1,"maxLength":400}},` +
		`"required":["text"],"additionalProperties":false}`,
	Call: forget,
}}

// mostForgotten is how many facts one call deletes. A text that fits more is too vague to delete by.
const mostForgotten = 5

// mostNamed is how many facts an answer names that deletes none.
const mostNamed = 3

func forget(call *pdk.ToolCall, out *pdk.ToolOut) error {
	conf, err := readConfig(&call.Base)
	if err != nil {
		return err
	}
	var wanted arguments
	if err := call.ReadArguments(&wanted); err != nil {
		return err
	}
	all, err := conf.facts()
	if err != nil {
		return err
	}
	best, share := matching(all, wanted.Text)
	switch {
	case len(best) == 0:
		out.SetText("Nothing like that is remembered; nothing was deleted.")
	case share < leastShare:
		out.SetText("Nothing was deleted, as nothing fits well. The nearest:" + listed(best[:min(len(best), mostNamed)]))
	case len(best) > mostForgotten:
		out.SetText("Nothing was deleted, as too much fits; say which in more words. Among it:" + listed(best[:mostNamed]))
	default:
		if err := conf.drop(best); err != nil {
			return err
		}
		out.SetText("Deleted:" + listed(best))
	}
	return nil
}

// leastShare is which part of the words must be in a fact that is deleted by them.
const leastShare = 0.5

// matching are the facts that hold the largest share of a text's words, and how large it is. One that is the text alone is
// the only one. Words, and not the host's search, decide: it is an error to delete what is only near.
func matching(all []fact, text string) (best []fact, share float64) {
	wanted := words(text)
	for _, f := range all {
		if plain(f.Text) == plain(text) {
			return []fact{f}, 1
		}
		held := words(f.Text)
		n := 0
		for w := range wanted {
			if held[w] {
				n++
			}
		}
		if n == 0 {
			continue
		}
		s := float64(n) / float64(len(wanted))
		if s > share {
			best, share = nil, s
		}
		if s == share {
			best = append(best, f)
		}
	}
	return best, share
}

func words(text string) map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.N) }) {
		out[word] = true
	}
	return out
}

func listed(facts []fact) string {
	var b strings.Builder
	for i := range facts {
		b.WriteString("\n- " + facts[i].Text)
	}
	return b.String()
}

// arguments are those of forget.
type arguments struct{ Text string }

// ReadJSON reads the arguments.
func (a *arguments) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		if name == "text" {
			a.Text = r.String()
		}
	}
}
