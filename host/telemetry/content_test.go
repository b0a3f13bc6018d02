package telemetry_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/telemetry"
	"github.com/weft-run/weft/message"
)

const secret = "hunter2"

// talkative runs an agent in which everything that was said holds the secret.
func talkative(t testing.TB, r *rig, streamed bool) {
	quoted := `"` + secret + `"`
	agent := newAgent(t, host.AgentConfig{
		Name: "guide", Tracer: r, Instructions: secret,
		Client: &scripted{replies: []*host.Response{
			calls(message.FunctionCall{CallID: "c1", Name: "find", Arguments: jsontext.Value(`{"q":` + quoted + `}`)},
				message.FunctionCall{CallID: "c2", Name: "broken"}, message.FunctionCall{CallID: "c3", Name: "made up: " + secret}),
			says("It is " + secret),
		}},
		Tools: []host.Tool{answering("find", quoted), failing("broken", secret)},
		Providers: []host.Provider{host.BeforeRunFunc("clock", func(_ context.Context, sc *host.SessionContext) error {
			sc.ExtendMessages(message.User(secret))
			return nil
		})},
	})
	_, err := agent.Run(t.Context(), host.Text(secret), host.RunConfig{})
	require.NoError(t, err)

	for _, c := range []host.AgentConfig{
		{Client: &scripted{fail: errors.New(secret)}},
		{Client: &scripted{fail: &host.ModelError{Kind: host.ErrInvalidRequest, Err: errors.New(secret)}}},
		{Client: &scripted{}, Providers: []host.Provider{host.BeforeRunFunc("p", func(context.Context, *host.SessionContext) error { return errors.New(secret) })}},
		{Client: &scripted{}, Providers: []host.Provider{host.BeforeRunFunc("p", func(context.Context, *host.SessionContext) error { panic(secret) })}},
	} {
		c.Tracer = r
		_, err = run(t.Context(), newAgent(t, c), streamed, host.RunConfig{})
		require.ErrorContains(t, err, secret)
	}
}

func TestNothingOfWhatWasSaidIsRecorded(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		r := newRig(t, telemetry.Config{})
		talkative(t, r, streamed)
		require.NotContains(t, r.everything(t), secret)
		require.Contains(t, r.tree(), "invoke_agent guide > execute_tool", "a tool that the model made up has no name")
	}
}

func TestContentOnRequest(t *testing.T) {
	r := newRig(t, telemetry.Config{Content: true})
	talkative(t, r, false)

	chat := attributes(r.span(t, "chat").Attributes)
	assert.JSONEq(t, `[{"type":"text","content":"hunter2"}]`, chat["gen_ai.system_instructions"].(string))
	assert.JSONEq(t, `[{"role":"user","parts":[{"type":"text","content":"hunter2"}]},{"role":"user","parts":[{"type":"text","content":"hunter2"}]}]`,
		chat["gen_ai.input.messages"].(string))
	assert.JSONEq(t, `[{"role":"assistant","finish_reason":"tool_call","parts":[
		{"type":"tool_call","id":"c1","name":"find","arguments":{"q":"hunter2"}},
		{"type":"tool_call","id":"c2","name":"broken","arguments":null},
		{"type":"tool_call","id":"c3","name":"made up: hunter2","arguments":null}]}]`, chat["gen_ai.output.messages"].(string))
	assert.NotContains(t, chat, "weft.content.cut")

	find := attributes(r.span(t, "execute_tool find").Attributes)
	assert.Equal(t, `{"q":"hunter2"}`, find["gen_ai.tool.call.arguments"])
	assert.Equal(t, `"hunter2"`, find["gen_ai.tool.call.result"])
	broken := r.span(t, "execute_tool broken")
	assert.Equal(t, secret, broken.Status.Description)
	assert.Equal(t, `"Error: Function failed."`, attributes(broken.Attributes)["gen_ai.tool.call.result"])

	whole := attributes(r.span(t, "invoke_agent guide").Attributes)
	assert.Contains(t, whole["gen_ai.output.messages"], "It is hunter2")
	assert.Contains(t, whole["gen_ai.output.messages"], `{"type":"tool_call_response","id":"c1","response":"hunter2"}`)

	assert.NotContains(t, fmt.Sprint(r.metrics(t)), secret, "a metric never holds content")
}

func TestAllKindsOfContent(t *testing.T) {
	r := newRig(t, telemetry.Config{Content: true})
	reply := says("x")
	reply.FinishReason = ""
	reply.Messages = []*message.Message{{Role: message.RoleAssistant, AuthorName: "Ann", Contents: []message.Content{
		message.Reasoning{Text: "hm"},
		message.URI{URI: "https://example.com/a.png", MediaType: "image/png"},
		message.Error{Message: "refused", Code: "no"},
		message.Unknown{Type: "hologram", JSON: jsontext.Value(`{}`)},
		message.FunctionCall{CallID: "c", Name: "f", Arguments: jsontext.Value(`{"broken`)},
		message.Text{Text: "bad \xff byte"},
	}}}
	agent := newAgent(t, host.AgentConfig{Tracer: r, Client: &scripted{replies: []*host.Response{reply}}})
	_, err := run(t.Context(), agent, false, host.RunConfig{})
	require.NoError(t, err)
	assert.JSONEq(t, `[{"role":"assistant","name":"Ann","finish_reason":"stop","parts":[
		{"type":"reasoning","content":"hm"},
		{"type":"uri","uri":"https://example.com/a.png","mime_type":"image/png","modality":"image"},
		{"type":"error","content":"refused"}, {"type":"hologram"},
		{"type":"tool_call","id":"c","name":"f","arguments":"{\"broken"}, {"type":"text","content":"bad ? byte"}]}]`,
		attributes(r.span(t, "chat").Attributes)["gen_ai.output.messages"].(string))
}

// contentOf records an input of many messages and a tool call, with a limit.
func contentOf(t testing.TB, limit int, texts []string) map[string]string {
	r := newRig(t, telemetry.Config{Content: true, ContentLimit: limit})
	var input []*message.Message
	for _, text := range texts {
		input = append(input, message.User(text))
	}
	longest, _ := json.Marshal(strings.ToValidUTF8(strings.Join(texts, ""), "?"))
	agent := newAgent(t, host.AgentConfig{
		Tracer: r, Tools: []host.Tool{answering("f", string(longest))}, Instructions: strings.Join(texts, ""),
		Client: &scripted{replies: []*host.Response{calls(message.FunctionCall{CallID: "c", Name: "f", Arguments: []byte(`{"q":` + string(longest) + `}`)}), says("x")}},
	})
	_, err := agent.Run(t.Context(), input, host.RunConfig{})
	require.NoError(t, err)
	have := map[string]string{}
	for _, name := range []string{"chat", "execute_tool f", "invoke_agent"} {
		for key, value := range attributes(r.span(t, name).Attributes) {
			if text, ok := value.(string); ok && (strings.HasSuffix(key, ".messages") || strings.HasSuffix(key, "instructions") || strings.Contains(key, "tool.call.") && key != "gen_ai.tool.call.id") {
				have[name+" "+key] = text
				require.LessOrEqual(t, len(text), limit, key)
				require.True(t, jsontext.Value(text).IsValid(), "%s: %s", key, text)
			}
			if key == "weft.content.cut" {
				have[name+" cut"] = "true"
			}
		}
	}
	return have
}

func TestContentIsCut(t *testing.T) {
	have := contentOf(t, 1000, []string{"oldest", strings.Repeat("ä", 600), "newest"})
	assert.Equal(t, `[{"role":"user","parts":[{"type":"text","content":"newest"}]}]`, have["chat gen_ai.input.messages"], "the newest that fit")
	assert.Equal(t, "true", have["chat cut"])
	assert.Equal(t, "true", have["execute_tool f cut"])
	assert.Contains(t, have["chat gen_ai.system_instructions"], "oldestäää")
	assert.Contains(t, have["execute_tool f gen_ai.tool.call.arguments"], `"{\"q\":\"oldestäää`, "what is cut is a text")

	have = contentOf(t, 1000, []string{"oldest", strings.Repeat("x", 2000)})
	assert.Contains(t, have["chat gen_ai.input.messages"], `[{"role":"user","parts":[{"type":"text","content":"xxx`, "the newest is cut where it does not fit alone")
	assert.NotContains(t, have["chat gen_ai.input.messages"], "oldest")

	assert.NotContains(t, contentOf(t, 10_000, []string{"short"}), "chat cut")
	for limit := range 60 {
		contentOf(t, limit+1, []string{"a\x00\"ü", "b"})
	}
}

// FuzzContent holds the cutting of content against anything that a model or a user may say.
func FuzzContent(f *testing.F) {
	f.Add(100, "hello", "world")
	f.Add(7, "\xff\xfe", "\x00\"\\\u2028")
	f.Fuzz(func(t *testing.T, limit int, a, b string) {
		contentOf(t, min(max(limit, 1), 1<<16), []string{strings.ToValidUTF8(a, "?"), b})
	})
}
