package main

import (
	"slices"
	"strings"
	"testing"
)

func TestPassages(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string // heading|first line of the text
	}{
		{"no heading", "Just text.\n", []string{"a.md|Just text."}},
		{
			"title and sections", "# T\nzero\n## A\none\n### B\ntwo\n## C\nthree\n",
			[]string{"T|zero", "A|one", "A > B|two", "C|three"},
		},
		{"two titles", "# T\n## A\none\n# U\n## A\ntwo\n", []string{"A|one", "U > A|two"}},
		{"a heading without text", "# T\n\n## A\n\n## B\ntext\n", []string{"B|text"}},
		{"a skipped level", "# T\n#### D\none\n## A\ntwo\n", []string{"D|one", "A|two"}},
		{"closed and marked headings", "## `before_run` **now** ##\none\n", []string{"before_run now|one"}},
		{"C# keeps its mark", "## C#\none\n", []string{"C#|one"}},
		{"no headings", "#hashtag\n####### seven\n    # code\n", []string{"a.md|#hashtag"}},
		{
			"code is no heading", "# T\n```sh\n# comment\n~~~\n```\n~~~~\n# x\n~~~\n# y\n~~~~\n## A\none\n",
			[]string{"T|```sh", "A|one"},
		},
		{"code that never ends", "# T\n```\n## A\none\n", []string{"T|```"}},
		{"front matter", "---\ntitle: x\n---\n# T\none\n", []string{"T|one"}},
		{"a rule is no front matter", "---\none\n", []string{"a.md|---"}},
		{"nothing", " \n\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var have []string
			for _, p := range passages(file{name: "a.md", text: c.text}) {
				first, _, _ := strings.Cut(p.text, "\n")
				have = append(have, p.heading+"|"+first)
			}
			if !slices.Equal(have, c.want) {
				t.Errorf("want %q\nhave %q", c.want, have)
			}
		})
	}
}

func TestChunks(t *testing.T) {
	paragraph := strings.Repeat("word ", 100)
	code := "```\n" + strings.Repeat("line\n\n", 50) + "```\n"
	for _, c := range []struct {
		name, text string
		count      int
	}{
		{"short", "one\n\ntwo", 1},
		{"paragraphs", strings.Join([]string{paragraph, paragraph, paragraph}, "\n\n"), 3},
		{"a code block is whole", paragraph + "\n\n" + code + "\n" + paragraph, 2},
		{"one long paragraph", strings.Repeat(paragraph, 4), 2},
		{"lines", strings.Repeat("| a | b |\n", 300), 3},
		{"one long word", strings.Repeat("é", 1000), 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			parts := chunks(c.text, passageBytes)
			if len(parts) != c.count {
				t.Errorf("%d parts were wanted, %d are there", c.count, len(parts))
			}
			for _, p := range parts {
				if len(p) > passageBytes || strings.ToValidUTF8(p, "") != p {
					t.Errorf("a part is cut inside a character, or %d bytes long: %.60q", len(p), p)
				}
			}
			if strings.Join(strings.Fields(strings.Join(parts, " ")), "") != strings.Join(strings.Fields(c.text), "") {
				t.Error("the parts are not the text")
			}
		})
	}
}

func TestListsAreSplitBetweenItems(t *testing.T) {
	item := strings.Repeat("word ", 70) + "\n  " + strings.Repeat("more ", 10) + "\n"
	for _, mark := range []string{"- ", "* ", "10. "} {
		for _, part := range chunks(strings.Repeat(mark+item, 6), passageBytes) {
			if !strings.HasPrefix(part, mark) || strings.Count(part, mark) != 2 {
				t.Errorf("two whole items were wanted: %.80q", part)
			}
		}
	}
}

func FuzzPassages(f *testing.F) {
	f.Add("# T\n\ntext\n```\n# x\n```\n## A ##\n- é\n")
	f.Add(strings.Repeat("é", 2000))
	f.Add("# T\n\x1a " + strings.Repeat("\f", 2000) + "x")
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "\uFFFD")
		for _, p := range passages(file{name: "a.md", text: text}) {
			switch {
			case !strings.Contains(text, p.text):
				t.Fatalf("%q is no part of the text", p.text)
			case len(p.text) > passageBytes || strings.TrimSpace(p.text) == "":
				t.Fatalf("a passage has %d bytes: %.40q", len(p.text), p.text)
			case strings.ContainsAny(p.heading, "\n\r]"):
				t.Fatalf("heading %q would end its line", p.heading)
			}
		}
	})
}
