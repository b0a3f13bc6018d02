package offline

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
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

// FuzzCalls looks for a question or a schema that makes the client panic, call a tool with arguments that do not hold
// against its schema, answer nothing, or answer twice in different ways.
func FuzzCalls(f *testing.F) {
	f.Add("get_weather Paris days=3, add 1 and 2", `{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}`)
	f.Add("own x=1 y: [1,2], z true", `{"properties":{"x":{"type":["null","integer"]},"y":{"type":"array","items":{"type":"number"}},"z":{}},"required":["x"]}`)
	f.Add(`own {"a":{}} translate "a" 'b'`, `{"required":["a"],"properties":{"a":{"const":1},"b":{"enum":["x y",2,null,""]}}}`)
	f.Add("paint “red” and light-blue, wet: true; sum 1, -2e3 and .5", `{"properties":{"_":null,"-":{"items":true}}}`)
	f.Add("own ‘‘‘ \xff=\xff:\x00", `{"properties":{"\ufffd":{"type":"array","items":{"type":"array"}}},"additionalProperties":false}`)
	f.Fuzz(func(t *testing.T, question, schema string) {
		tools := append([]host.OfferedTool{offered("own", "", schema)}, workshop...)
		for _, mode := range []string{host.ToolChoiceAuto, host.ToolChoiceRequired} {
			request := requestFor("", question)
			request.Tools, request.Options.ToolChoice.Mode = tools, mode
			answer := replyTo(t, request)
			if strings.TrimSpace(answer) == "" || answer != replyTo(t, request) {
				t.Fatalf("answer %q, then %q", answer, replyTo(t, request))
			}
			response, err := New(Config{}).Complete(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range callsOf(response) {
				holds(t, c, tools)
			}
		}
	})
}

// holds fails the test unless the arguments of a call are a JSON object that fits the schema of its tool.
func holds(t *testing.T, c message.FunctionCall, tools []host.OfferedTool) {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal(c.Arguments, &object); err != nil || object == nil {
		t.Fatalf("%s %s: %v", c.Name, c.Arguments, err)
	}
	for _, o := range tools {
		s := o.Definition().Parameters
		if o.Definition().Name != c.Name || s == nil {
			continue
		}
		if err := s.Validate(c.Arguments); err != nil {
			t.Fatalf("%s %s: %v", c.Name, c.Arguments, err)
		}
	}
}
