package offline

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/weft-run/weft/message"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

const clock = "It is Saturday, 21 November 2026, 10:42 (UTC)."

// TestGoldenAnswers keeps whole answers as they are: testdata/answers.golden is to be read.
func TestGoldenAnswers(t *testing.T) {
	abi := document(t, "abi.txt")
	guide := "Answer from the documentation, and say where it stands."
	ada := guide + "\nThe user's name is Ada.\nThe user prefers metric units and short answers.\n" + clock
	talk := []*message.Message{
		said("Hello!"), replied("Hello. I am the offline model."),
		said("My name is Grace Hopper. My favourite colour is green, and I work on compilers."), replied("Noted."),
		said("What does after_run receive?"), replied("“after_run receives …” — abi.md § Input (docs)"),
	}
	scenes := []struct {
		name, instructions string
		context            []*message.Message
		questions          []string
	}{
		{"a guide with documents", guide, abi, []string{
			"What does before_run receive?",
			"What does after_run receive?",
			"Hello! Could you tell me what after_run receives?",
			"What is the difference between before_run and after_run?",
			"Can before_run read messages of other sources?",
			"What is a grant?",
			"Where are grants given?",
			"How much memory may a plugin use?",
			"What are effects?",
			"When is run_failed called?",
			"What happens to unknown fields?",
			"Is describe optional?",
			"How do I install a plugin?",
			"limits.cpu",
			"I would like to know what process may return.",
			"What does before_walk receive?",
			"What colour is before_run?",
			"What is the capital of France?",
			"How do I connect to PostgreSQL?",
			"What is the documentation?",
			"What is my name?",
			"What time is it?",
			"Why?",
			"Hello!",
			"Who are you?",
			"What can you do?",
			"Thanks!",
			"My name is Ada.",
			"I prefer short answers.",
			"My name is Ada. What is my name?",
		}},
		{"facts in the instructions", ada, abi, []string{
			"What is my name?",
			"Who am I?",
			"Do you remember my name?",
			"What's the user's name?",
			"What time is it?",
			"Which day is it today?",
			"what's the date?",
			"What do I prefer?",
			"Which units do I prefer?",
			"What do you know about me?",
			"What does before_run receive?",
			"What is my shoe size?",
		}},
		{"facts in the conversation", guide, append(talk[:len(talk):len(talk)], abi...), []string{
			"What is my name?",
			"What is my favourite colour?",
			"What do I work on?",
			"What do I like?",
			"What did I say?",
			"What is a compiler?",
		}},
		{"nothing at all", "", nil, []string{"What is a weft?", "What is my name?", "Hi", ""}},
	}
	var b strings.Builder
	for _, s := range scenes {
		fmt.Fprintf(&b, "== %s ==\n\n", s.name)
		for _, q := range s.questions {
			fmt.Fprintf(&b, "> %s\n%s\n\n", q, answerTo(t, requestFor(s.instructions, q, s.context...)))
		}
	}
	compareGolden(t, "testdata/answers.golden", b.String())
}

// compareGolden holds text against a file, or writes it there with -update.
func compareGolden(t *testing.T, file, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, wanted := strings.Split(text, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(wanted)) {
		if i >= len(got) || i >= len(wanted) || got[i] != wanted[i] {
			t.Fatalf("%s: line %d differs; look at it, then run with -update\ngot  %q\nwant %q", file, i+1, lineAt(got, i), lineAt(wanted, i))
		}
	}
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(the end)"
}
