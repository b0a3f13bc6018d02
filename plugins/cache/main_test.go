package main

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/pdk/go/pdktest"
)

func TestCases(t *testing.T) {
	pdktest.Cases{Hooks: pdktest.Hooks{"describe": describe}}.Test(t)
}

// model is a host with storage and a model that counts its calls.
type model struct {
	host    *pdktest.Host
	asked   int
	content string
	finish  string
}

func newModel(messages string) *model {
	m := &model{content: `{"type":"text","text":"Paris"}`, finish: "stop"}
	m.host = &pdktest.Host{Functions: pdktest.KV()}
	m.host.Functions["get_messages"] = func(string) string { return `{"ranges":[{"start":0,"total":1,"messages":` + messages + `}]}` }
	m.host.Functions["call_next"] = func(string) string {
		m.asked++
		return `{"response":{"messages":[{"role":"assistant","contents":[` + m.content + `]}],"finish_reason":"` + m.finish + `"}}`
	}
	return m
}

func (m *model) ask(t *testing.T, more string) string {
	t.Helper()
	return m.host.Call(t, process, `{"hook":"process","layer":"chat","request":{"count":1,"instructions":"Be brief."}`+more+`}`)
}

const question = `[{"role":"user","contents":[{"type":"text","text":"The capital of France?"}],"message_id":"7"}]`

func TestTheSameRequestIsAnsweredFromStorage(t *testing.T) {
	m := newModel(question)
	first, second := m.ask(t, ``), m.ask(t, ``)
	if m.asked != 1 || first != `{}` || !strings.Contains(second, "Paris") {
		t.Errorf("asked %d times: %s, %s", m.asked, first, second)
	}
	if m.ask(t, `,"options":{"max_tokens":5}`); m.asked != 2 {
		t.Error("other options are another request")
	}
	if m.ask(t, `,"config":{"scope":"session"}`); m.asked != 3 {
		t.Error("a session does not know what the agent keeps")
	}
}

func TestIdsDoNotMakeAnotherRequest(t *testing.T) {
	m := newModel(question)
	m.ask(t, ``)
	m.host.Functions["get_messages"] = func(string) string {
		return `{"ranges":[{"start":0,"total":1,"messages":` + strings.ReplaceAll(question, `"7"`, `"8"`) + `}]}`
	}
	if m.ask(t, ``); m.asked != 1 {
		t.Error("the model was asked again")
	}
}

func TestWhatIsNotKept(t *testing.T) {
	for name, c := range map[string]struct{ more, content, finish string }{
		"a call of a tool":         {``, `{"type":"function_call","call_id":"1","name":"pay"}`, "stop"},
		"an answer cut short":      {``, `{"type":"text","text":"Par"}`, "length"},
		"variety that is wanted":   {`,"options":{"temperature":0.7}`, `{"type":"text","text":"Paris"}`, "stop"},
		"more than the most bytes": {`,"config":{"max_bytes":256}`, `{"type":"text","text":"` + strings.Repeat("Paris ", 100) + `"}`, "stop"},
	} {
		m := newModel(question)
		m.content, m.finish = c.content, c.finish
		m.ask(t, c.more)
		if m.ask(t, c.more); m.asked != 2 {
			t.Errorf("%s: the model was asked %d times", name, m.asked)
		}
	}
}

func TestStorageThatFailsDoesNotStopTheRun(t *testing.T) {
	m := newModel(question)
	delete(m.host.Functions, "kv_get")
	delete(m.host.Functions, "kv_set")
	if out := m.ask(t, ``); out != `{}` || m.asked != 1 {
		t.Errorf("asked %d times: %s", m.asked, out)
	}
}

func TestVarietyIsKeptWhereTheOperatorSaysSo(t *testing.T) {
	m := newModel(question)
	more := `,"options":{"temperature":0.7},"config":{"any_temperature":true}`
	m.ask(t, more)
	if m.ask(t, more); m.asked != 1 {
		t.Errorf("the model was asked %d times", m.asked)
	}
}
