package offline

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzAnswer looks for input that makes the client panic, answer nothing, answer differently when it streams, or quote
// text that is not valid UTF-8.
func FuzzAnswer(f *testing.F) {
	f.Add("Be brief.", "What does before_run receive?", "[abi.md § Input]\n- **IN-2** `before_run` receives the input.", "My name is Ada.")
	f.Add("The user's name is Ada.", "What is my name?", "| a | b |\n|---|---|\n| `x|y` | z |", "Call me X")
	f.Add("It is Monday, 10:42.", "what time is it", "```\ncode\n", "?")
	f.Add("", "\xff?", "> - *a\x00* `\n|\n:\n", "。")
	f.Fuzz(func(t *testing.T, instructions, question, context, history string) {
		request := requestFor(instructions, question, from("docs", context), said(history))
		answer := answerTo(t, request)
		if strings.TrimSpace(answer) == "" || !utf8.ValidString(answer) {
			t.Fatalf("answer %q", answer)
		}
		var streamed strings.Builder
		for u, err := range New(Config{}).Stream(t.Context(), request) {
			if err != nil {
				t.Fatal(err)
			}
			streamed.WriteString(u.Text())
		}
		if streamed.String() != answer {
			t.Fatalf("streamed %q, complete is %q", streamed.String(), answer)
		}
	})
}
