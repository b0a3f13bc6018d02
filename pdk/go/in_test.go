package pdk_test

import (
	stdjson "encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

const full = `{
  "abi": 1, "hook": "after_run", "source_id": "notes", "later": {"members": ["are", "passed", "over"]},
  "run": {"run_id": "r", "agent": "a", "session_id": "s", "service_session_id": "t"},
  "config": {"limit": 3},
  "grants": {"read": ["input"], "add": ["messages"], "roles": ["user"], "files": [{"guest": "/docs", "mode": "ro"}]},
  "state": {"version": 1, "lines": ["x"]},
  "input": [{"role": "user", "contents": [{"type": "text", "text": "hi"}], "message_id": "m", "author_name": "Ada",
    "source_id": "s", "source_type": "t", "attribution": "ephemeral", "properties": {"k": [1]}}],
  "context": [{"source_id": "in_memory", "count": 2}, {"source_id": "docs", "count": 4}],
  "options": {"temperature": 0.5},
  "metadata": {"a": 1, "b": {"c": 2}},
  "response": {"messages": [{"role": "assistant", "contents": [{"text": "hm", "type": "reasoning"}, {"type": "text", "text": "a"},
    {"type": "text", "text": "b"}]}], "finish_reason": "stop", "conversation_id": "c",
    "usage": {"input_tokens": 5, "output_tokens": 7}},
  "error": {"code": "model", "message": "no answer"}
}`

func TestIn(t *testing.T) {
	var in pdk.In
	if err := json.Unmarshal(full, &in); err != nil {
		t.Fatal(err)
	}
	same(t, "abi", in.ABI, 1)
	same(t, "hook", in.Hook, "after_run")
	same(t, "source_id", in.SourceID, "notes")
	same(t, "run", in.Run, pdk.Run{RunID: "r", Agent: "a", SessionID: "s", ServiceSessionID: "t"})
	same(t, "config", in.Config, `{"limit": 3}`)
	same(t, "options", in.Options, `{"temperature": 0.5}`)
	same(t, "metadata", in.MetadataValue("b"), `{"c": 2}`)
	same(t, "metadata", in.MetadataValue("c"), "")
	same(t, "error", *in.Error, pdk.Error{Code: pdk.CodeModel, Message: "no answer"})
	same(t, "grants", in.Grants(), pdk.Grants{
		Read: []string{"input"}, Add: []string{"messages"}, Roles: []pdk.Role{"user"},
		Files: []pdk.FileGrant{{Guest: "/docs", Mode: "ro"}},
	})
	same(t, "input", in.Input(), []pdk.Message{{
		Role: pdk.RoleUser, Contents: []pdk.Content{pdk.Text{Text: "hi"}}, MessageID: "m", AuthorName: "Ada", SourceID: "s",
		SourceType: "t", Attribution: "ephemeral", Properties: map[string]json.Raw{"k": "[1]"},
	}})
	same(t, "context", in.Context(), []pdk.Source{{SourceID: "in_memory", Count: 2}, {SourceID: "docs", Count: 4}})
	same(t, "option", in.Option("temperature"), "0.5")
	response := in.Response()
	same(t, "response", []any{response.FinishReason, response.ConversationID, *response.Usage},
		[]any{"stop", "c", pdk.Usage{InputTokens: 5, OutputTokens: 7}})
	same(t, "text", response.Messages[0].Text(), "ab")
}

func TestAnEmptyIn(t *testing.T) {
	var in pdk.In
	if err := json.Unmarshal(`{}`, &in); err != nil {
		t.Fatal(err)
	}
	if in.Response() != nil || in.Error != nil || in.Input() != nil || in.Context() != nil || in.Messages() != nil ||
		in.MetadataValue("x") != "" || in.Option("x") != "" || in.Request() != nil || in.Calls() != nil || in.Results() != nil {
		t.Error("what is absent is empty")
	}
	defaults := limit{Limit: 9}
	if err := in.ReadConfig(&defaults); err != nil || defaults.Limit != 9 {
		t.Errorf("without a config the defaults stand: %v, %v", defaults, err)
	}
}

func TestReadConfig(t *testing.T) {
	in := pdk.In{Base: pdk.Base{Config: `{"limit": 3}`}, State: `{"limit": "x"}`}
	var c limit
	if err := in.ReadConfig(&c); err != nil || c.Limit != 3 {
		t.Error(c, err)
	}
	err := in.ReadState(&c)
	want := &pdk.Error{Code: pdk.CodeInvalidInput, Message: "state: at /limit: a number was wanted, and a string is there"}
	same(t, "error", err, error(want))
}

type limit struct{ Limit int }

func (c *limit) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		if name == "limit" {
			c.Limit = r.Int()
		}
	}
}

func same[T any](t *testing.T, what string, have T, want any) {
	t.Helper()
	if raw, ok := any(have).(json.Raw); ok {
		if string(raw) != want {
			t.Errorf("%s: want %v, have %v", what, want, raw)
		}
		return
	}
	if !reflect.DeepEqual(any(have), want) {
		t.Errorf("%s: want %+v\nhave %+v", what, want, have)
	}
}

const allGrants = `{"read":["options"],"add":["metadata"],"roles":["system"],"change":["result"],"middleware":["chat"],` +
	`"kv":["session"],"complete":{"calls":1,"tokens":2},"embed":{"calls":3,"tokens":4},` +
	`"search":[{"index":"a"},{"index":"b","mode":"rw"}],"events":["emit"],` +
	`"http":[{"origin":"https://a.example","methods":["GET"],"secrets":["KEY"],"private":true},{"origin_from":"url"}],` +
	`"files":[{"guest":"/a"},{"guest":"/b","mode":"ro"}]}`

var grants = pdk.Grants{
	Read: []string{"options"}, Add: []string{"metadata"}, Roles: []pdk.Role{pdk.RoleSystem}, Change: []string{"result"},
	Middleware: []pdk.Layer{pdk.LayerChat}, KV: []pdk.Scope{pdk.ScopeSession}, Complete: &pdk.Budget{Calls: 1, Tokens: 2},
	Embed: &pdk.Budget{Calls: 3, Tokens: 4}, Search: []pdk.SearchGrant{{Index: "a"}, {Index: "b", Mode: "rw"}},
	Events: []string{"emit"},
	HTTP: []pdk.HTTPGrant{
		{Origin: "https://a.example", Methods: []string{"GET"}, Secrets: []string{"KEY"}, Private: true},
		{OriginFrom: "url"},
	},
	Files: []pdk.FileGrant{{Guest: "/a"}, {Guest: "/b", Mode: "ro"}},
}

// What init is told of the rights is what a description asks for.
func TestGrantsAreReadAsTheyAreWritten(t *testing.T) {
	var in pdk.In
	if err := json.Unmarshal(`{"grants":`+allGrants+`}`, &in); err != nil {
		t.Fatal(err)
	}
	same(t, "grants", in.Grants(), grants)
}

func TestDescription(t *testing.T) {
	for want, d := range map[string]pdk.Description{
		`{"abi":1}`: {},
		`{"name":"n","version":"1","description":"d","abi":1,"source_id":"s","requires":["r"],"config_schema":{},` +
			`"grants":` + allGrants + `,"layers":["chat","function"],"state_version":3}`: {
			Name: "n", Version: "1", Description: "d", SourceID: "s", Requires: []string{"r"}, ConfigSchema: "{}",
			Layers: []pdk.Layer{pdk.LayerChat, pdk.LayerFunction}, StateVersion: 3, Grants: grants,
		},
	} {
		if have := string(json.Marshal(d)); have != want {
			t.Errorf("want %s\nhave %s", want, have)
		}
	}
}

func TestContents(t *testing.T) {
	for _, c := range []struct {
		name, in string
		content  pdk.Content
		out      string // where it differs from in
	}{
		{"text", `{"type":"text","text":"a"}`, pdk.Text{Text: "a"}, ""},
		{"reasoning", `{"type":"reasoning","text":"a"}`, pdk.Reasoning{Text: "a"}, ""},
		{"uri", `{"type":"uri","uri":"x:y","media_type":"image/png"}`, pdk.URI{URI: "x:y", MediaType: "image/png"}, ""},
		{
			"function_call", `{"type":"function_call","call_id":"1","name":"f","arguments":{"a":[1]}}`,
			pdk.FunctionCall{CallID: "1", Name: "f", Arguments: `{"a":[1]}`},
			"",
		},
		{
			"function_result", `{"type":"function_result","call_id":"1","result":{"b":2},"error":"e"}`,
			pdk.FunctionResult{CallID: "1", Result: `{"b":2}`, Error: "e"},
			"",
		},
		{"error", `{"type":"error","message":"m","code":"c"}`, pdk.ErrorContent{Message: "m", Code: "c"}, ""},
		{
			"unknown", `{"type":"hologram","text":{"not":"text"},"name":3}`,
			pdk.UnknownContent{Kind: "hologram", JSON: `{"type":"hologram","text":{"not":"text"},"name":3}`},
			"",
		},
		{
			"unknown, type last", `{"text":[1],"arguments":2,"type":"hologram"}`,
			pdk.UnknownContent{Kind: "hologram", JSON: `{"text":[1],"arguments":2,"type":"hologram"}`},
			"",
		},
		{"type last", `{"text":"a","type":"text"}`, pdk.Text{Text: "a"}, `{"type":"text","text":"a"}`},
		{"further members", `{"type":"text","text":"a","x":{}}`, pdk.Text{Text: "a"}, `{"type":"text","text":"a"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var m pdk.Message
			if err := json.Unmarshal(`{"role":"user","contents":[`+c.in+`,{"type":"text","text":"z"}]}`, &m); err != nil {
				t.Fatal(err)
			}
			same(t, "content", m.Contents[0], any(c.content))
			same(t, "the content behind it", m.Contents[1], any(pdk.Text{Text: "z"}))
			want := c.in
			if c.out != "" {
				want = c.out
			}
			same(t, "written", json.Marshal(m.Contents[0]), want)
			if kind := m.Contents[0].Type(); !strings.Contains(c.in, `"type":"`+kind+`"`) {
				t.Errorf("%s is of type %s", c.in, kind)
			}
		})
	}
}

// FuzzMessage reads a message, writes it and reads it again: what was understood once stays as it is, and is valid for
// everybody.
func FuzzMessage(f *testing.F) {
	f.Add(`{"role":"user","text":"hi","properties":{"b":1,"a":"\ud83d\ude00"}}`)
	f.Add(`{"role":"tool","contents":[{"type":"function_result","call_id":"1","result":[1e9]},{"text":1,"type":"x"}]}`)
	f.Add(`{"role":"assistant","contents":[{"type":"function_call","call_id":"","name":"f"},{"type":"error","message":"m"}],
		"message_id":"a","author_name":"b","source_id":"c","source_type":"d","attribution":"e"}`)
	f.Fuzz(func(t *testing.T, text string) {
		var first, second pdk.Message
		if json.Unmarshal(text, &first) != nil {
			return
		}
		written := json.Marshal(&first)
		if !stdjson.Valid([]byte(written)) {
			t.Fatalf("%q was written as %q", text, written)
		}
		if err := json.Unmarshal(written, &second); err != nil {
			t.Fatalf("%q was written as %q: %v", text, written, err)
		}
		if again := json.Marshal(&second); again != written {
			t.Fatalf("%q was written as %q, and then as %q", text, written, again)
		}
	})
}

// FuzzIn reads what a host might write, all of it, and must at worst refuse it.
func FuzzIn(f *testing.F) {
	f.Add(full)
	f.Add(`{"input":null,"context":[{}],"response":{},"grants":{"files":[{}]},"layer":1,"name":{},"streaming":2}`)
	f.Add(`{"call":{"arguments":[1]},"calls":[{}],"result":7,"results":[0],"request":{"count":1},"iteration":{"usage":{}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var in pdk.In
		if json.Unmarshal(text, &in) != nil {
			return
		}
		for _, read := range []func(){
			func() { in.Grants() },
			func() { in.MetadataValue("a") },
			func() { in.Option("a") },
			func() { in.Response() },
			func() { in.Input() },
			func() { in.Context() },
			func() { in.Iteration() },
			func() { in.Request() },
			func() { in.Call() },
			func() { in.Calls() },
			func() { in.Result() },
			func() { in.Results() },
		} {
			refused(read)
		}
	})
}

// refused runs f, which may panic as In does where the host wrote what is against the contract.
func refused(f func()) {
	defer func() {
		if value := recover(); value != nil {
			if _, ok := value.(*pdk.Error); !ok {
				panic(value)
			}
		}
	}()
	f()
}
