package conformance

import (
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/message"
)

// tidyValues is the same table as in guests/script: the two ways of playing must write values alike.
var tidyValues = []struct{ value, want string }{
	{"", "null"},
	{" null ", "null"},
	{"true", "true"},
	{"1.50", "1.50"},
	{"123456789012345678901234567890", "123456789012345678901234567890"},
	{"1E3", "1E3"},
	{"-0", "-0"},
	{`"a\u0062\/"`, `"ab/"`},
	{`"<é> \u0007 \n"`, `"<é> \u0007 \n"`},
	{`[ 1 , "two" , { } , [ ] ]`, `[1,"two",{},[]]`},
	{`{"b": 1, "a": {"d": 2, "c": [{"z": 1, "y": 2}]}, "aa": 3}`, `{"a":{"c":[{"y":2,"z":1}],"d":2},"aa":3,"b":1}`},
	{`{"\uffff": 1, "\ud83e\uddf5": 2}`, "{\"\U0001F9F5\":2,\"\uFFFF\":1}"},
}

func TestTidy(t *testing.T) {
	t.Parallel()
	for _, c := range tidyValues {
		if have := string(tidy(jsontext.Value(c.value))); have != c.want {
			t.Errorf("%s is written as %s, wanted %s", c.value, have, c.want)
		}
	}
}

// sameValues is the same table as in guests/script.
var sameValues = []struct {
	a, b string
	same bool
}{
	{`{"a": 1, "b": [1, 2]}`, `{"b":[1,2],"a":1}`, true},
	{`{"a": 1}`, `{"a": 1, "b": null}`, false},
	{`{"a": 1}`, `{"b": 1}`, false},
	{`[1, 2]`, `[2, 1]`, false},
	{`[1]`, `[1, 1]`, false},
	{`1`, `1.0`, true},
	{`{"x": [10]}`, `{"x": [1e1]}`, true},
	{`1`, `"1"`, false},
	{`1`, `2`, false},
	{`12345678901234567890`, `12345678901234567891`, false},
	{`12345678901234567890`, `12345678901234567890`, true},
	{`"a"`, `"\u0061"`, true},
	{`null`, `false`, false},
	{`true`, `true`, true},
	{`{}`, `[]`, false},
}

func TestSameJSON(t *testing.T) {
	t.Parallel()
	for _, c := range sameValues {
		if sameJSON(jsontext.Value(c.a), jsontext.Value(c.b)) != c.same || sameJSON(jsontext.Value(c.b), jsontext.Value(c.a)) != c.same {
			t.Errorf("%s and %s: wanted same %v", c.a, c.b, c.same)
		}
	}
}

func TestApprovalsAreNotShown(t *testing.T) {
	t.Parallel()
	request := message.Unknown{Type: "function_approval_request", JSON: jsontext.Value(`{"type":"function_approval_request"}`)}
	answer := message.Unknown{Type: "function_approval_response", JSON: jsontext.Value(`{"type":"function_approval_response"}`)}
	other := message.Reasoning{Text: "hm"}
	have := show([]*message.Message{
		message.New(message.RoleAssistant, message.FunctionCall{CallID: "1", Name: "t"}, request),
		message.New(message.RoleAssistant, request),
		message.New(message.RoleUser, answer),
		message.New(message.RoleAssistant, other),
		message.New(message.RoleAssistant),
	})
	if len(have) != 3 {
		t.Fatalf("%d messages are shown, wanted 3: %s", len(have), inJSON(have))
	}
	if len(have[0].Calls) != 1 || have[0].Other != nil {
		t.Errorf("the call is shown as %s", inJSON(have[0]))
	}
	if !slices.Equal(have[1].Other, []string{"reasoning"}) {
		t.Errorf("reasoning is shown as %s", inJSON(have[1]))
	}
	r := &Result{}
	r.messages("/m", []Message{{Role: "assistant"}}, have[1:2])
	if len(r.Differences) != 1 || r.Differences[0].Have != "reasoning" {
		t.Errorf("contents that the format has no word for: %v", r.Differences)
	}
}

// Neighbouring tool messages of one source are one, whichever side has them apart.
func TestToolMessagesOfOneSourceAreOne(t *testing.T) {
	t.Parallel()
	result := func(id, source string) *message.Message {
		m := message.New(message.RoleTool, message.FunctionResult{CallID: id, Result: jsontext.Value(`"ok"`)})
		m.SourceID = source
		return m
	}
	have := show([]*message.Message{result("1", "h"), result("2", "h"), result("3", ""), message.User("x"), result("4", "")})
	if len(have) != 4 || len(have[0].Results) != 2 {
		t.Fatalf("shown as %s", inJSON(have))
	}
	wanted := func(ids ...string) Message {
		m := Message{Role: "tool"}
		for _, id := range ids {
			m.Results = append(m.Results, CallResult{CallID: id, Result: "ok"})
		}
		return m
	}
	r := &Result{}
	r.messages("/m", []Message{wanted("1"), wanted("2")}, have[:1])
	if len(r.Differences) != 0 {
		t.Errorf("apart in the file, one where seen: %v", r.Differences)
	}
}

func TestToolRunsInAnyOrder(t *testing.T) {
	t.Parallel()
	runOf := func(name, arguments string) ToolRun { return ToolRun{name, jsontext.Value(arguments)} }
	for _, c := range []struct {
		name       string
		want, have []ToolRun
		paths      []string
	}{
		{"same", []ToolRun{runOf("t", `{"x":1}`), runOf("u", "{}")}, []ToolRun{runOf("u", "{ }"), runOf("t", `{"x": 1}`)}, nil},
		{"twice", []ToolRun{runOf("t", "{}"), runOf("t", "{}")}, []ToolRun{runOf("t", "{}")}, []string{"/expect/tool_runs/1"}},
		{"more", nil, []ToolRun{runOf("t", "{}")}, []string{"/expect/tool_runs"}},
		{"other arguments", []ToolRun{runOf("t", "{}")}, []ToolRun{runOf("t", `{"x":1}`)}, []string{"/expect/tool_runs/0", "/expect/tool_runs"}},
	} {
		p := &play{result: &Result{}, toolRuns: c.have}
		p.compareToolRuns(c.want)
		var paths []string
		for _, d := range p.result.Differences {
			paths = append(paths, d.Path)
		}
		if !slices.Equal(paths, c.paths) {
			t.Errorf("%s: differences at %q, wanted %q", c.name, paths, c.paths)
		}
	}
}

func TestWarningsAreCounted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		want, have []string
		fails      bool
	}{
		{"none", nil, nil, false},
		{"none wanted", nil, []string{"x"}, true},
		{"each in one", []string{"a", "b"}, []string{"A and B"}, false},
		{"listed twice", []string{"a", "a"}, []string{"a 1", "a 2", "b"}, false},
		{"listed once", []string{"a"}, []string{"a 1", "a 2"}, true},
	} {
		p := &play{result: &Result{}}
		p.compareWarnings(c.want, c.have)
		if fails := len(p.result.Differences) > 0; fails != c.fails {
			t.Errorf("%s: fails is %v, wanted %v: %v", c.name, fails, c.fails, p.result.Differences)
		}
	}
}

func TestMeant(t *testing.T) {
	t.Parallel()
	valid := []string{"before_run", "after_run", "run_failed"}
	for word, want := range map[string]string{
		"beforerun":  `did you mean "before_run"?`,
		"befroe_run": `did you mean "before_run"?`,
		"failed":     "valid are before_run, after_run, run_failed",
		"":           "valid are before_run, after_run, run_failed",
	} {
		if have := meant(word, valid); have != want {
			t.Errorf("%q: %s, wanted %s", word, have, want)
		}
	}
}
