package conformance

import (
	"fmt"
	"os"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
)

// Load reads a scenario file. All faults are reported at once, each with the file, the JSON pointer of its place and,
// for a word that is not known, the nearest valid one.
func Load(path string) (*Scenario, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	s, err := Parse(path, data)
	if err != nil {
		return nil, err
	}
	s.File = path
	return s, nil
}

// Parse reads a scenario; name stands for the file in errors.
func Parse(name string, data []byte) (*Scenario, error) {
	root, err := parseTree(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f := &faults{file: name}
	o := f.object(root, "name", "summary", "tags", "differs", "agent", "model", "turns", "expect", "reference_expect")
	o.need("name", "model", "turns")
	if o.has("reference_expect") && !o.has("differs") {
		f.add(o.at, `"reference_expect" stands beside "differs", and that is missing`)
	}
	s := &Scenario{
		Name: o.name("name"), Summary: o.str("summary"), Tags: o.strings("tags"), Differs: o.str("differs"),
		Turns: listOf(o, "turns", readTurn),
	}
	s.Agent.DefaultHistory = host.HistoryWhenEmpty
	if n := o.byKey["agent"]; n != nil {
		s.Agent = readAgent(f, n)
	}
	if n := o.byKey["model"]; n != nil {
		s.Model = readModel(f, n)
	}
	if n := o.byKey["expect"]; n != nil {
		s.Expect = readExpect(f, n, &s.Agent)
	}
	checkSessions(f, root, s)
	if err := f.err(); err != nil {
		return nil, err
	}
	return s, nil
}

// checkSessions reports what a session can only be given at its first use.
func checkSessions(f *faults, root *node, s *Scenario) {
	used := map[string]bool{}
	for i, t := range s.Turns {
		at := jsontext.Pointer(fmt.Sprintf("/turns/%d", i))
		if t.ServiceSessionID != "" && (t.Session == "" || used[t.Session]) {
			f.add(at, `"service_session_id" binds a session at its first use, and this is not the first turn of one`)
		}
		if t.Reload && t.Session == "" {
			f.add(at, `"reload" needs a session`)
		}
		used[t.Session] = true
	}
	expect := root.byKey["expect"]
	for _, key := range []string{"state", "service_session_id"} {
		if expect == nil || expect.byKey[key] == nil {
			continue
		}
		for _, name := range expect.byKey[key].names {
			if !used[name] || name == "" {
				f.add(expect.byKey[key].at, "no turn has a session %q", name)
			}
		}
	}
}

func readAgent(f *faults, n *node) Agent {
	o := f.object(n, "name", "instructions", "options", "providers", "middleware", "tools", "function_invocation",
		"default_history", "per_service_call_history", "compaction")
	a := Agent{
		Name: o.str("name"), Instructions: o.str("instructions"), Options: readOptions(o),
		Providers:  listOf(o, "providers", readProvider),
		Middleware: listOf(o, "middleware", readMiddleware),
		Tools:      listOf(o, "tools", readTool),
		DefaultHistory: host.DefaultHistory(o.word("default_history", string(host.HistoryWhenEmpty),
			string(host.HistoryWhenEmpty), string(host.HistoryWhenMissing), string(host.HistoryNever))),
		PerServiceCallHistory: o.boolean("per_service_call_history", false),
		FunctionInvocation:    readInvocation(f, o.value("function_invocation", '{', "an object")),
		Compaction:            readStrategy(o, "compaction"),
	}
	return a
}

func readInvocation(f *faults, n *node) host.FunctionInvocation {
	if n == nil {
		return host.FunctionInvocation{}
	}
	o := f.object(n, "enabled", "max_iterations", "max_consecutive_errors", "terminate_on_unknown_calls", "include_detailed_errors")
	return host.FunctionInvocation{
		Disabled: !o.boolean("enabled", true), MaxIterations: o.count("max_iterations"),
		MaxConsecutiveErrors:    o.count("max_consecutive_errors"),
		TerminateOnUnknownCalls: o.boolean("terminate_on_unknown_calls", false),
		IncludeDetailedErrors:   o.boolean("include_detailed_errors", false),
	}
}

func readOptions(o object) host.Options {
	n := o.value("options", '{', "an object")
	if n == nil {
		return host.Options{}
	}
	options, err := host.ParseOptions(n.raw)
	if err != nil {
		o.faults.add(n.at, "%v", err)
	}
	return options
}

func readModel(f *faults, n *node) Model {
	o := f.object(n, "stores_history", "replies")
	return Model{StoresHistory: o.boolean("stores_history", false), Replies: listOf(o, "replies", readReply)}
}

func readReply(f *faults, n *node) Reply {
	o := f.object(n, "text", "calls", "error", "conversation_id", "usage", "chunks")
	r := Reply{
		Text: o.optional("text"), Calls: listOf(o, "calls", readCall), Error: o.name("error"),
		ConversationID: o.name("conversation_id"), Usage: readUsage(o), Chunks: o.strings("chunks"),
	}
	if o.raw != nil && !o.has("text") && !o.has("calls") && !o.has("error") {
		f.add(o.at, `a reply needs "text", "calls" or "error"`)
	}
	whole := ""
	for _, c := range r.Chunks {
		whole += c
	}
	if r.Chunks != nil && (r.Text == nil || *r.Text != whole) {
		f.add(o.at, `"chunks" must add up to "text"; they are %q`, whole)
	}
	return r
}

func readUsage(o object) *host.Usage {
	n := o.byKey["usage"]
	if n == nil {
		return nil
	}
	u := o.faults.object(n, "input_tokens", "output_tokens")
	u.need("input_tokens", "output_tokens")
	return &host.Usage{InputTokens: u.count("input_tokens"), OutputTokens: u.count("output_tokens")}
}

func readTurn(f *faults, n *node) Turn {
	o := f.object(n, "session", "service_session_id", "reload", "input", "approve", "options", "middleware", "stream",
		"stop_after", "expect")
	o.either("input", "approve")
	t := Turn{
		ServiceSessionID: o.name("service_session_id"), Reload: o.boolean("reload", false), Approve: o.members("approve"),
		Options: readOptions(o), Middleware: listOf(o, "middleware", readMiddleware),
		Stream: o.boolean("stream", false), StopAfter: o.count("stop_after"),
	}
	if s := o.byKey["session"]; s != nil && s.raw.Kind() != 'n' {
		t.Session = o.name("session")
	}
	for _, m := range t.Approve {
		if k := m.Value.Kind(); k != 't' && k != 'f' {
			f.add(o.byKey["approve"].at.AppendToken(m.Name), "true or false was wanted")
		}
	}
	if t.StopAfter > 0 && !t.Stream {
		f.add(o.at, `"stop_after" needs "stream": true`)
	}
	switch in := o.byKey["input"]; {
	case in == nil:
	case in.raw.Kind() == '"':
		t.Input = []Message{{Role: "user", Text: &in.text}}
	default:
		t.Input = listOf(o, "input", readMessage)
	}
	if e := o.byKey["expect"]; e != nil {
		t.Expect = readTurnExpect(f, e)
	}
	return t
}

func readTool(f *faults, n *node) Tool {
	o := f.object(n, "name", "description", "parameters", "returns", "fails", "declaration_only", "approval")
	o.need("name")
	o.either("returns", "fails", "declaration_only")
	return Tool{
		Name: o.name("name"), Description: o.str("description"),
		Parameters: o.rawValue("parameters", '{', "an object"), Returns: o.optional("returns"), Fails: o.optional("fails"),
		DeclarationOnly: o.boolean("declaration_only", false), Approval: o.word("approval", "", "always"),
	}
}

func readMiddleware(f *faults, n *node) Middleware {
	o := f.object(n, "kind", "name", "layer", "when", "process")
	o.need("kind", "name", "layer", "process")
	o.word("kind", "", string(KindScript))
	m := Middleware{Config: n.raw, Name: o.name("name"), Layer: o.word("layer", "", layers...)}
	if w := o.byKey["when"]; w != nil {
		key := "last_role"
		if m.Layer == layerFunction {
			key = "tool"
		}
		when := f.object(w, key)
		when.need(key)
		m.When = When{Tool: when.name("tool"), LastRole: when.word("last_role", "", roles...)}
	}
	m.Process = listOf(o, "process", func(f *faults, n *node) Op { return readOp(f, n, m.Layer) })
	return m
}
