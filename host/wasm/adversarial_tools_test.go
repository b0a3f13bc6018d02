package wasm_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	hosttool "github.com/weft-run/weft/host/tool"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/message"
)

// offers is a plugin that adds tools.
func offers(tools string) script {
	return script{"before_run": {out(`{"extend_tools":[` + tools + `]}`)}, "call_tool": {out(`{"result":"ran"}`)}}
}

// Tools that cannot be are all refused, before any model call; where the operator says skip, the run goes on without them.
func TestToolsThatCannotBeAreRefusedWithTheirPlugin(t *testing.T) {
	many := strings.Repeat(`{"name":"t"},`, 9_999) + `{"name":"t"}`
	deep := strings.Repeat(`{"not":`, 17) + `{}` + strings.Repeat(`}`, 17)
	for name, c := range map[string]struct{ tools, want string }{
		"10,000 tools":                  {many, "limits.tools"},
		"a schema that is too large":    {`{"name":"t","parameters":{"description":"` + strings.Repeat("x", 8<<10) + `"}}`, "limits.tool_schema"},
		"a schema that is too deep":     {`{"name":"t","parameters":` + deep + `}`, "nest"},
		"a reference to itself":         {`{"name":"t","parameters":{"$ref":"#"}}`, `uses "$ref"`},
		"a reference that is escaped":   {`{"name":"t","parameters":{"\u0024re\u0066":"#"}}`, `uses "$ref"`},
		"a reference to another host":   {`{"name":"t","parameters":{"properties":{"a":{"$ref":"https://evil.example/s.json"}}}}`, `uses "$ref"`},
		"a dynamic reference":           {`{"name":"t","parameters":{"$dynamicRef":"#a"}}`, `uses "$dynamicRef"`},
		"a pattern that is none of RE2": {`{"name":"t","parameters":{"properties":{"a":{"pattern":"(?=a)"}}}}`, "pattern"},
		"descriptions without end":      {`{"name":"t","description":"` + strings.Repeat("x", 64<<10+1) + `"}`, "limits.text"},
		"a space in the name":           {`{"name":"a b"}`, "model APIs take"},
		"a letter that looks like one":  {`{"name":"de\u0430d"}`, "model APIs take"},
		"a control character":           {`{"name":"a\u0007"}`, "model APIs take"},
		"a name that is too long":       {`{"name":"` + strings.Repeat("x", 65) + `"}`, "model APIs take"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &model{}
			p, _ := offers(c.tools).load(t, wasm.Config{Grants: all})
			_, err := newAgent(t, m, p).Run(t.Context(), host.Text("hi"), host.RunConfig{})
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, "provider p: before_run: ")
			require.Empty(t, m.requests)

			p, _ = offers(c.tools).load(t, wasm.Config{Grants: all, OnError: host.OnErrorSkip})
			_, err = newAgent(t, m, p).Run(t.Context(), host.Text("hi"), host.RunConfig{})
			require.NoError(t, err)
			require.Len(t, m.requests, 1)
			require.Empty(t, m.requests[0].Tools)
		})
	}
}

// calls asks for a tool with the same arguments once, and is done when it has a result.
type calls struct {
	name, arguments string
	results         []message.FunctionResult
}

func (m *calls) Complete(_ context.Context, r *host.ChatRequest) (*host.Response, error) {
	if last := r.Messages[len(r.Messages)-1]; last.Role == message.RoleTool {
		m.results = append(m.results, last.Contents[0].(message.FunctionResult))
		return host.NewResponse("done"), nil
	}
	call := message.FunctionCall{CallID: "c1", Name: m.name, Arguments: jsontext.Value(m.arguments)}
	return &host.Response{Messages: []*message.Message{message.New(message.RoleAssistant, call)}}, nil
}

func (m *calls) Stream(ctx context.Context, r *host.ChatRequest) iter.Seq2[*host.Update, error] {
	return func(yield func(*host.Update, error) bool) {
		response, err := m.Complete(ctx, r)
		if err != nil {
			yield(nil, err)
			return
		}
		yield(&host.Update{Role: message.RoleAssistant, Contents: response.Messages[0].Contents}, nil)
	}
}

// A pattern of a stranger and a long argument of a model cost the host little: what would cost more is not checked.
func TestAPatternThatWouldTakeLongDoesNot(t *testing.T) {
	for name, pattern := range map[string]string{
		"backtracking": "^(a+)+$",
		"repetitions":  strings.Repeat("[a-z]{1000}", 500),
	} {
		t.Run(name, func(t *testing.T) {
			m := &calls{name: "t", arguments: `{"a":"` + strings.Repeat("a", 100_000) + `!"}`}
			p, heard := script{
				"before_run": {out(`{"extend_tools":[{"name":"t","parameters":{"properties":{"a":{"type":"string","pattern":"` + pattern + `"}}}}]}`)},
				"call_tool":  {hears(), out(`{}`)},
			}.load(t, wasm.Config{Grants: all})
			began := time.Now()
			_, err := newAgent(t, m, p).Run(t.Context(), host.Text("hi"), host.RunConfig{})
			if err != nil {
				require.ErrorContains(t, err, "parameters")
			} else {
				require.Equal(t, "Error: Argument parsing failed.", m.results[0].Error)
			}
			require.Empty(t, heard.all(), "the plugin is not called")
			require.Less(t, time.Since(began), 20*time.Second)
		})
	}
}

func TestAToolOfOneNameIsAnErrorThatNamesBothOwners(t *testing.T) {
	p, _ := offers(`{"name":"look"}`).load(t, wasm.Config{Grants: all})
	q, _ := offers(`{"name":"look"}`).load(t, wasm.Config{Grants: all, SourceID: "q"})
	own := hosttool.Must(hosttool.New(hosttool.Config{Name: "look"}, func(context.Context, hosttool.None) (string, error) { return "own", nil }))

	m := &model{}
	_, err := newAgent(t, m, p, q).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.ErrorIs(t, err, host.ErrDuplicateTool)
	require.ErrorContains(t, err, `"look": source p and source q both have one`)

	_, err = newAgent(t, m, p).Run(t.Context(), host.Text("hi"), host.RunConfig{Tools: []host.Tool{own}})
	require.ErrorIs(t, err, host.ErrDuplicateTool)
	require.ErrorContains(t, err, `"look": source p and the run both have one`)

	twice, _ := offers(`{"name":"look"},{"name":"look"}`).load(t, wasm.Config{Grants: all, SourceID: "r"})
	_, err = newAgent(t, m, twice).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.ErrorIs(t, err, host.ErrDuplicateTool)
	require.Empty(t, m.requests)
}

func TestArgumentsThatDoNotFitNeverReachAPlugin(t *testing.T) {
	for _, arguments := range []string{`{"n":"one"}`, `{}`, `[1]`, `{"n":1,"n":2}`, `"\u0000"`, `{"n":1e999}`, `{"n":`} {
		m := &calls{name: "t", arguments: arguments}
		p, heard := script{
			"before_run": {out(`{"extend_tools":[{"name":"t","parameters":{"type":"object","properties":{"n":{"type":"integer","maximum":9}},"required":["n"]}}]}`)},
			"call_tool":  {hears(), out(`{}`)},
		}.load(t, wasm.Config{Grants: all})
		_, err := newAgent(t, m, p).Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.NoError(t, err)
		require.Empty(t, heard.all(), arguments)
		require.Equal(t, "Error: Argument parsing failed.", m.results[0].Error, arguments)
	}
}

// What function middleware puts in the place of arguments is held against the same rules.
func TestArgumentsOfMiddlewareAreHeldAgainstWhatWasDecided(t *testing.T) {
	for name, c := range map[string]struct {
		config    hosttool.Config
		arguments string
		code      string
		want      int
	}{
		"what fits":              {hosttool.Config{}, `{"n":2}`, "", 2},
		"what does not fit":      {hosttool.Config{}, `{"n":"two"}`, "invalid_input", 0},
		"what is no object":      {hosttool.Config{}, `[2]`, "invalid_input", 0},
		"after an approval":      {hosttool.Config{NeedsApproval: hosttool.Always}, `{"n":2}`, "denied", 0},
		"where trust is needed":  {hosttool.Config{RequiresTrusted: true}, `{"n":2}`, "denied", 0},
		"what is what was there": {hosttool.Config{RequiresTrusted: true}, `{"n":1}`, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			got := 0
			c.config.Name = "t"
			tool := hosttool.Must(hosttool.New(c.config, func(_ context.Context, in struct {
				N int `json:"n"`
			},
			) (string, error) {
				got = in.N
				return "", nil
			}))
			p, heard := around(t, script{"process": {next(`{"arguments":` + c.arguments + `}`), out(`{}`)}}, abi.LayerFunction, wasm.Config{})
			agent, err := host.NewAgent(host.AgentConfig{Client: &calls{name: "t", arguments: `{"n":1}`}, Tools: []host.Tool{tool}, Middleware: p.ForLayer()})
			require.NoError(t, err)
			session := agent.CreateSession("")
			_, err = agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
			require.NoError(t, err)
			asked, err := session.PendingApprovals()
			require.NoError(t, err)
			for _, request := range asked {
				_, err = agent.Run(t.Context(), []*message.Message{message.New(message.RoleUser, message.ApprovalResponse{Call: request.Call, Approved: true})}, host.RunConfig{Session: session})
				require.NoError(t, err)
			}
			require.Equal(t, c.want, got)
			require.Len(t, heard.all(), 1)
			if c.code != "" {
				require.Contains(t, heard.all()[0], fmt.Sprintf(`"code":%q`, c.code))
			}
		})
	}
}
