package offline

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSentences(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"prose", "One is here. Two is “there.” Is three? Yes!", []string{"One is here.", "Two is “there.”", "Is three?", "Yes!"}},
		{"wrapped prose", "A long line of a paragraph which goes on and\non in the next. And ends.", []string{
			"A long line of a paragraph which goes on and on in the next.", "And ends.",
		}},
		{"short lines", "Name: Ada\nColour: green", []string{"Name: Ada", "Colour: green"}},
		{"abbreviations", "Use one, e.g. Rust. Ask Dr. Smith, i.e. Jane, v. 1.2 of abi.md.", []string{
			"Use one, e.g. Rust.", "Ask Dr. Smith, i.e. Jane, v. 1.2 of abi.md.",
		}},
		{"code in prose", "Call `a. B()` now. *Then* **stop**.", []string{"Call `a. B()` now.", "Then stop."}},
		{"stray marks", "Is 2 * 3 * 4 less? `**x**` and *.wasm and a `tick. Yes.", []string{
			"Is 2 * 3 * 4 less?", "`**x**` and *.wasm and a `tick.", "Yes.",
		}},
		{"lists", "Effects:\n\n- `state`: the new\n  state\n* [ ] two\n1. three\n\nAfter.", []string{
			"Effects:", "`state`: the new state", "two", "three", "After.",
		}},
		{"bold with code", "- **IN-2** `before_run` receives. **IN-3 `x`** too.", []string{"IN-2 `before_run` receives.", "IN-3 `x` too."}},
		{"headings and rules", "# Title\n\n---\n## Input ##\nText.\n***\n<!-- no -->\n> Quoted.", []string{"Text.", "Quoted."}},
		{"table of two", "| a | b |\n|---|:-:|\n| `x|y` | one \\| two |\n| empty | |", []string{"`x|y`: one | two", "empty"}},
		{"table of three", "name | type | note\n--- | --- | ---\nid | string |\nage | int | in *years*", []string{
			"id · type: string", "age · type: int · note: in years",
		}},
		{"table without head", "| a | b |\n| c | d |", []string{"a: b", "c: d"}},
		{"code", "Run:\n```sh\n# first\nweft   run\n\nx=`date`\n```\nDone.", []string{"Run:", "`# first`", "`weft run`", "x=`date`", "Done."}},
		{"links", "See [the guide](guide.md#x) and ![a picture](p.png).", []string{"See the guide and a picture."}},
		{"other scripts", "状态是什么。结果。", []string{"状态是什么。", "结果。"}},
		{"nothing", " \n\n- \n|\n```\n:\n", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, s := range sentences(test.text) {
				got = append(got, s.text)
			}
			assert.Equal(t, test.want, got)
		})
	}
}

func TestSentencesKnowWhatTheyAreAbout(t *testing.T) {
	text := "# Hooks\n\n`before_run` is first. It receives the input.\n\nIt may return:\n\n- messages\n\n| name | value |\n|---|---|\n| x | 1 |\n"
	want := map[string]string{
		"`before_run` is first.": "Hooks",
		"It receives the input.": "Hooks `before_run` is first.",
		"It may return:":         "Hooks It receives the input.",
		"messages":               "Hooks It may return:",
		"x: 1":                   "Hooks It may return: name value",
	}
	for _, s := range sentences(text) {
		assert.Equal(t, want[s.text], strings.TrimSpace(s.context), s.text)
	}
}
