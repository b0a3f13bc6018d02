package conformance

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
)

// readMessage reads a message that goes in.
func readMessage(f *faults, n *node) Message { return readMessageOf(f, n, nil) }

// readSeen reads a message that must be seen.
func readSeen(f *faults, n *node) Message {
	return readMessageOf(f, n, []string{"source", "text_contains"})
}

// readStored reads a message that must be stored.
func readStored(f *faults, n *node) Message {
	return readMessageOf(f, n, []string{"source", "text_contains", "excluded"})
}

func readMessageOf(f *faults, n *node, more []string) Message {
	o := f.object(n, append([]string{"role", "text", "calls", "results"}, more...)...)
	o.need("role")
	o.either("text", "text_contains")
	m := Message{
		Role: o.word("role", "", roles...), Text: o.optional("text"),
		Calls: listOf(o, "calls", readCall), Results: listOf(o, "results", readCallResult),
	}
	if slices.Contains(more, "source") {
		m.Source, m.TextContains = o.optional("source"), o.optional("text_contains")
	}
	if slices.Contains(more, "excluded") && o.has("excluded") {
		excluded := o.boolean("excluded", false)
		m.Excluded = &excluded
	}
	return m
}

func readCall(f *faults, n *node) Call {
	o := f.object(n, "call_id", "name", "arguments")
	o.need("call_id", "name", "arguments")
	return Call{CallID: o.str("call_id"), Name: o.name("name"), Arguments: o.rawValue("arguments", '{', "an object")}
}

func readCallResult(f *faults, n *node) CallResult {
	o := f.object(n, "call_id", "result")
	o.need("call_id", "result")
	return CallResult{CallID: o.str("call_id"), Result: o.str("result")}
}

func readToolRun(f *faults, n *node) ToolRun {
	o := f.object(n, "name", "arguments")
	o.need("name", "arguments")
	return ToolRun{Name: o.name("name"), Arguments: o.rawValue("arguments", '{', "an object")}
}

func readTurnExpect(f *faults, n *node) TurnExpect {
	o := f.object(n, "messages", "text", "text_contains", "error", "updates", "requests_for_approval", "usage")
	return TurnExpect{
		Messages:            wanted(o, "messages", false, func() []Message { return listOf(o, "messages", readSeen) }),
		Text:                wanted(o, "text", false, func() string { return o.str("text") }),
		TextContains:        wanted(o, "text_contains", false, func() string { return o.str("text_contains") }),
		Error:               wanted(o, "error", false, func() string { return o.str("error") }),
		Updates:             wanted(o, "updates", false, func() []Message { return listOf(o, "updates", readSeen) }),
		RequestsForApproval: wanted(o, "requests_for_approval", false, func() []string { return o.strings("requests_for_approval") }),
		Usage:               wanted(o, "usage", false, func() host.Usage { return *readUsage(o) }),
	}
}

func readExpect(f *faults, n *node, agent *Agent) Expect {
	o := f.object(n, "build_error", "requests", "log", "state", "tool_runs", "service_session_id", "warnings")
	e := Expect{
		BuildError: wanted(o, "build_error", false, func() string { return o.str("build_error") }),
		Requests:   wanted(o, "requests", false, func() []Request { return listOf(o, "requests", readRequest) }),
		Log:        wanted(o, "log", false, func() []string { return o.strings("log") }),
		ToolRuns:   wanted(o, "tool_runs", false, func() []ToolRun { return listOf(o, "tool_runs", readToolRun) }),
		Warnings:   wanted(o, "warnings", false, func() []string { return o.strings("warnings") }),
	}
	if state := o.value("state", '{', "an object"); state != nil {
		for _, name := range state.names {
			e.State = append(e.State, readSessionState(f, name, state.byKey[name], agent))
		}
	}
	for _, m := range o.members("service_session_id") {
		id := ServiceID{Session: m.Name}
		if m.Value.Kind() != 'n' {
			id.ID = object{o.byKey["service_session_id"], f}.name(m.Name)
		}
		e.SessionID = append(e.SessionID, id)
	}
	return e
}

func readSessionState(f *faults, name string, n *node, agent *Agent) SessionState {
	s := SessionState{Session: name}
	for _, source := range f.object(n, n.names...).names {
		bucket := n.byKey[source]
		want := SourceState{SourceID: source, Value: bucket.raw, History: !agent.scripted(source) && bucket.byKey["messages"] != nil}
		if want.History {
			want.Messages = listOf(f.object(bucket, "messages"), "messages", readStored)
		} else {
			f.object(bucket, bucket.names...)
		}
		s.Sources = append(s.Sources, want)
	}
	return s
}

// scripted reports whether a source is a scripted provider of the agent, whose state may hold anything.
func (a *Agent) scripted(source string) bool {
	return slices.ContainsFunc(a.Providers, func(p Provider) bool { return p.Kind == KindScript && p.SourceID == source })
}

func readRequest(f *faults, n *node) Request {
	o := f.object(n, "messages", "instructions", "tools", "tool_choice", "conversation_id", "options")
	return Request{
		Messages:       wanted(o, "messages", true, func() []Message { return listOf(o, "messages", readSeen) }),
		Instructions:   wanted(o, "instructions", true, func() string { return o.str("instructions") }),
		Tools:          wanted(o, "tools", true, func() []string { return o.strings("tools") }),
		ToolChoice:     wanted(o, "tool_choice", true, func() jsontext.Value { return o.rawValue("tool_choice", 0, "") }),
		ConversationID: wanted(o, "conversation_id", true, func() string { return o.str("conversation_id") }),
		Options:        wanted(o, "options", true, func() jsontext.Value { return o.rawValue("options", '{', "an object") }),
	}
}
