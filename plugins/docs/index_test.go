package main

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/weft-run/weft/pdk/go/pdktest"
)

func terms(text string) string {
	var all []string
	tokens(text, func(term []byte, part bool) {
		if part {
			all = append(all, "."+string(term))
		} else {
			all = append(all, string(term))
		}
	})
	return strings.Join(all, " ")
}

func TestTokens(t *testing.T) {
	for text, want := range map[string]string{
		"What does before_run receive?":       "before_run .befor .run receiv",
		"receives received receiving":         "receiv receiv receiv",
		"running runs run":                    "run run run",
		"policies policy boxes classes class": "policy policy box class class",
		"ExtendMessages, IN-3; weft.yaml.":    "extendmessages .extend .messag in-3 .3 weft.yaml .weft .yaml",
		"context:SOURCE":                      "context:source .context .sourc",
		"Größe der ÄPFEL 寿司":                  "größe der äpfel 寿司",
		"the host's 64 KB":                    "host 64 kb",
		"_x_ -- ... e.g.":                     "e.g",
		"":                                    "",
	} {
		if have := terms(text); have != want {
			t.Errorf("%q: want %q, have %q", text, want, have)
		}
	}
}

func corpus(t *testing.T) *index {
	mounted(t)
	files, err := readFolder("/docs")
	if err != nil {
		t.Fatal(err)
	}
	return newIndex(files)
}

func TestTheRightPassageComesFirst(t *testing.T) {
	x := corpus(t)
	for question, want := range map[string]string{
		"What does before_run receive?":                  "abi.md § What a hook receives",
		"what may before_run return":                     "abi.md § What a hook returns",
		"Which exports must a plugin have?":              "abi.md § Exports",
		"What is ERR-1?":                                 "abi.md § Errors",
		"How do I build a plugin in Go?":                 "guide/quickstart.md § Build",
		"How can a plugin read files?":                   "guide/grants.md § Files",
		"How much memory does a guest get?":              "limits.md § Limits",
		"What happens when a plugin computes too long?":  "limits.md § Timeouts",
		"How do I keep state between runs?":              "guide/quickstart.md § Keep something between runs",
		"May it read messages that other sources added?": "guide/grants.md § Reading other sources",
	} {
		hits := x.search(question, 4, 0.1)
		if len(hits) == 0 {
			t.Errorf("%s: nothing was found; %s was wanted", question, want)
			continue
		}
		if have := hits[0].file + " § " + hits[0].heading; have != want {
			t.Errorf("%s: %s came first (%.2f); %s was wanted", question, have, hits[0].score, want)
		}
	}
}

func TestScores(t *testing.T) {
	x := corpus(t)
	hits := x.search("before_run", 100, 0)
	if len(hits) < 3 || !slices.IsSortedFunc(hits, func(l, r hit) int { return -compare(l.score, r.score) }) {
		t.Errorf("several hits were wanted, best first: %d", len(hits))
	}
	for _, h := range hits {
		if h.score <= 0 || h.score > 1 {
			t.Errorf("a score is between 0 and 1, not %v", h.score)
		}
	}
	if all, some := x.search("plugin", 100, 0), x.search("plugin", 100, 0.5); len(some) >= len(all) {
		t.Errorf("min_score left %d of %d", len(some), len(all))
	}
	if hits := newIndex(nil).search("before_run", 4, 0); len(hits) != 0 {
		t.Errorf("an empty index found %v", hits)
	}
	if hits := x.search(strings.Repeat("one two three before_run ", 10_000), 4, 0); len(hits) == 0 {
		t.Error("a long question finds something too")
	}
}

func compare(l, r float64) int {
	switch {
	case l < r:
		return -1
	case l > r:
		return 1
	}
	return 0
}

func TestWhatIsLeftOutIsLogged(t *testing.T) {
	folder := fstest.MapFS{
		"a.md":              {Data: []byte("# Apples\nred")},
		"big.md":            {Data: make([]byte, maxFileBytes+1)},
		"latin.markdown":    {Data: []byte("caf\xe9")},
		"notes.txt":         {Data: []byte("apples")},
		".git/x.md":         {Data: []byte("apples")},
		"sub/deep/pears.MD": {Data: []byte("green")},
	}
	mounted(t)
	openFolder = func(string) fs.FS { return folder }
	result := pdktest.Run(initialise, `{"hook": "init"}`)
	if result.Output != "{}" {
		t.Fatal(result.Output)
	}
	want := []pdktest.Log{
		{Level: "warn", Text: "left out of the index: big.md (larger than 1048576 bytes)"},
		{Level: "info", Text: "indexed 3 passages of 3 files"},
	}
	if !slices.Equal(result.Logs, want) {
		t.Errorf("want %q\nhave %q", want, result.Logs)
	}

	for i := range maxFiles + 10 {
		folder[fmt.Sprintf("many/%05d.md", i)] = &fstest.MapFile{Data: []byte("x")}
	}
	ready = nil
	result = pdktest.Run(initialise, `{"hook": "init"}`)
	if len(result.Logs) != 2 || !strings.Contains(result.Logs[0].Text, "(more than 2000 files)") ||
		!strings.HasSuffix(result.Logs[0].Text, " and 9 more") {
		t.Errorf("the files beyond the limit were to be named and counted: %q", result.Logs)
	}
}

func TestAFolderWithoutMarkdown(t *testing.T) {
	mounted(t)
	openFolder = func(string) fs.FS { return fstest.MapFS{"a.txt": {}} }
	result := pdktest.Run(beforeRun, `{"hook": "before_run", "input": [{"role": "user", "text": "apples"}]}`)
	if result.Output != "{}" || len(result.Logs) != 2 || result.Logs[0].Level != "warn" {
		t.Errorf("no effect and a warning were wanted: %+v", result)
	}
}

func BenchmarkBeforeRun(b *testing.B) {
	files, err := fs.Glob(openFolder("testdata/mount/docs"), "*.md")
	if err != nil || len(files) == 0 {
		b.Fatal(err)
	}
	ready = nil
	read, err := readFolder("testdata/mount/docs")
	if err != nil {
		b.Fatal(err)
	}
	ready = newIndex(read)
	defer func() { ready = nil }()
	for b.Loop() {
		pdktest.Run(beforeRun, `{"hook": "before_run", "input": [{"role": "user", "text": "What does before_run receive?"}]}`)
	}
}
