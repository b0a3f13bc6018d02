package index

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAFileIsSplitByItsHeadings(t *testing.T) {
	text := `---
title: Front
# not a heading
---
Before.

# Guide #

Intro.

## Files ` + "`rw`" + `

### Read **only**

Read.

` + "```sh\n# a comment\n~~~\n## no heading\n```\n" + `
## Files rw

    # code

#No heading
 ##  Tools  ##
Tools.
# Second
## ¡!

Marks.
####### too deep
## Files rw-1
End.`
	type brief struct {
		anchor, heading string
		line            int
		text            string
	}
	var have []brief
	for _, p := range passages("a.md", text) {
		require.Equal(t, "a.md", p.path)
		have = append(have, brief{p.anchor, p.heading, p.line, p.text})
	}
	require.Equal(t, []brief{
		{"", "", 5, "Before."},
		{"#guide", "Guide", 9, "Intro."},
		{"#read-only", "Files rw > Read only", 15, "Read.\n\n```sh\n# a comment\n~~~\n## no heading\n```"},
		{"#files-rw-1", "Files rw", 25, "    # code\n\n#No heading"},
		{"#tools", "Tools", 29, "Tools."},
		{"#-1", "Second > ¡!", 33, "Marks.\n####### too deep"},
		{"#files-rw-1-1", "Second > Files rw-1", 36, "End."},
	}, have)

	have = nil
	for _, p := range passages("a.txt", "# Guide\nA.\n") {
		have = append(have, brief{p.anchor, p.heading, p.line, p.text})
	}
	require.Equal(t, []brief{{"", "", 1, "# Guide\nA."}}, have)
}

func TestALongSectionIsSplitBetweenItsParagraphs(t *testing.T) {
	paragraph := strings.Repeat("Word after word. ", 24) + "End.\n\n" // 414 bytes
	code := "```\n" + strings.Repeat("code\n\n", 100) + "```\n\n"
	item := "- " + strings.Repeat("an item ", 70) + "\n"
	text := "# A\n\n" + strings.Repeat(paragraph, 5) + code + strings.Repeat(item, 2) + strings.Repeat("x", 2500) + "\n"
	all := passages("a.md", text)
	var anchors []string
	for _, p := range all {
		require.LessOrEqual(t, len(p.text), passageBytes)
		anchors = append(anchors, p.anchor)
	}
	require.Equal(t, []string{"#a", "#a~2", "#a~3", "#a~4", "#a~5", "#a~6", "#a~7", "#a~8", "#a~9"}, anchors)
	two := strings.TrimRight(paragraph+paragraph, "\n")
	require.Equal(t, two, all[0].text)
	require.Equal(t, two, all[1].text)
	require.Equal(t, 7, all[1].line)
	require.Equal(t, strings.TrimRight(paragraph, "\n"), all[2].text)
	require.Equal(t, strings.TrimRight(code, "\n"), all[3].text, "a code block is kept whole")
	require.Equal(t, strings.TrimRight(item, "\n"), all[4].text)
	require.Equal(t, strings.Repeat("x", passageBytes), all[6].text)
}

func TestCharactersAndLineEndsStayWhole(t *testing.T) {
	for _, p := range passages("a.md", strings.Repeat("寿", 3000)) {
		require.True(t, utf8.ValidString(p.text))
		require.LessOrEqual(t, len(p.text), passageBytes)
	}
	all := passages("a.md", "\uFEFF---\r\na: 1\r\n---\r\n# A\r\n\r\nOne.\r\n\r\n# B\r\nTwo.\r\n")
	require.Len(t, all, 2)
	require.Equal(t, passage{path: "a.md", heading: "A", anchor: "#a", line: 6, text: "One."}, all[0])
	require.Equal(t, passage{path: "a.md", heading: "B", anchor: "#b", line: 9, text: "Two."}, all[1])
	require.Len(t, passages("a.md", "---\nnever closed\n"), 1)
	require.Empty(t, passages("a.md", "# A\n\n## B\n \n"))
}

func FuzzPassagesAreTheFile(f *testing.F) {
	f.Add("# A\n\nOne.\n\n```\n# B\n```\n", true)
	f.Add("---\na: 1\n---\n"+strings.Repeat("- x\n", 500), true)
	f.Add(strings.Repeat("# A\n# a-1\n# A\nx\n", 20), true)
	f.Add(strings.Repeat("ü ", 2000)+"\r", false)
	f.Fuzz(func(t *testing.T, text string, markdown bool) {
		if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
			return // such files are skipped
		}
		path := "a.txt"
		if markdown {
			path = "a.md"
		}
		lines := strings.SplitAfter(text, "\n")
		seen := map[string]bool{}
		rest := text
		x := &Index{options: Options{MaxText: passageBytes}}
		var bad faults
		for _, p := range passages(path, text) {
			x.check(&bad, p.document(strings.Repeat("p", maxPrefix)))
			assert.False(t, seen[p.anchor], "two passages have the anchor %q", p.anchor)
			seen[p.anchor] = true
			_, behind, ok := strings.Cut(rest, p.text)
			assert.True(t, ok, "%q is not in the file, or not in its order", p.text)
			rest = behind
			first, _, _ := strings.Cut(p.text, "\n")
			assert.Contains(t, lines[p.line-1], first)
		}
		assert.NoError(t, bad.join())
		if !markdown {
			assert.Equal(t, strings.Join(strings.Fields(text), ""), strings.Join(strings.Fields(join(passages(path, text))), ""), "nothing is lost")
		}
	})
}

func join(all []passage) string {
	var b strings.Builder
	for _, p := range all {
		b.WriteString(p.text)
	}
	return b.String()
}
