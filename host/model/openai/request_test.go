package openai_test

import (
	"context"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/model/openai"
	"github.com/weft-run/weft/host/model/openai/openaitest"
	"github.com/weft-run/weft/message"
)

const weatherSchema = `{"type":"object","properties":{"zone":{"type":"string"},"city":{"type":"string"},"days":{"type":"integer","maximum":12345678901234567890}},"required":["zone"]}`

func offered(tools ...host.Tool) (all []host.OfferedTool) {
	for _, t := range tools {
		all = append(all, host.OfferedTool{Tool: t})
	}
	return all
}

// TestWhatIsSent keeps whole requests as they are, for services are strict: testdata/requests is to be read.
func TestWhatIsSent(t *testing.T) {
	weather, open := tool{name: "weather", schema: document(weatherSchema)}, tool{name: "now"}
	named := message.User("hi")
	named.AuthorName = "ada-1"
	badName := message.User("hi again")
	badName.AuthorName = "Ada Lovelace"
	for _, c := range []struct {
		name    string
		request host.ChatRequest
		config  openai.Config
		only    openai.API // empty for both
	}{
		{name: "plain", request: host.ChatRequest{Instructions: "Be brief.", Messages: []*message.Message{message.System("Extra."), named, badName}}},
		{name: "tools", request: host.ChatRequest{Messages: host.Text("hi"), Tools: offered(weather, open)}},
		{name: "tool_choice_named", request: host.ChatRequest{
			Messages: host.Text("hi"), Tools: offered(open),
			Options: host.Options{ToolChoice: host.ToolChoice{Mode: host.ToolChoiceRequired, Function: "now"}},
		}},
		{name: "tool_choice_required", request: host.ChatRequest{
			Messages: host.Text("hi"), Tools: offered(open), Options: host.Options{ToolChoice: host.ToolChoice{Mode: host.ToolChoiceRequired}},
		}},
		{name: "tool_choice_none", request: host.ChatRequest{
			Messages: host.Text("hi"), Tools: offered(open), Options: host.Options{ToolChoice: host.ToolChoice{Mode: host.ToolChoiceNone}},
		}},
		{name: "rounds", request: host.ChatRequest{Messages: []*message.Message{
			message.User("weather?"),
			assistant(
				message.Reasoning{Text: "not sent"}, message.Text{Text: "Let me "}, message.Text{Text: "look."},
				message.FunctionCall{CallID: "call_1", Name: "weather", Arguments: jsontext.Value(`{"zone": 1.50}`)},
				message.FunctionCall{CallID: "call_2", Name: "now"},
				message.FunctionCall{CallID: "call_3", Name: "now", Arguments: jsontext.Value(`"{broken"`)},
			),
			message.New(
				message.RoleTool,
				message.FunctionResult{CallID: "call_1", Result: jsontext.Value(`{"sky":"grün","n":1.50}`)},
				message.FunctionResult{CallID: "call_2", Result: jsontext.Value(`"it is <noon>"`)},
				message.FunctionResult{CallID: "call_3", Error: "Error: Argument parsing failed."},
			),
			assistant(message.Error{Message: "I must not say.", Code: "refusal"}),
			message.User("thanks"),
		}}},
		{name: "attachments", request: host.ChatRequest{Messages: []*message.Message{message.New(
			message.RoleUser, message.Text{Text: "Look:"},
			message.URI{URI: "https://example.com/a.png", MediaType: "image/png"},
			message.URI{URI: "data:image/jpeg;base64,/9j/4A=="},
			message.URI{URI: "data:image/svg+xml,%3Csvg/%3E", MediaType: "image/svg+xml"},
			message.URI{URI: "data:application/pdf;base64,JVBERi0", MediaType: "application/pdf"},
			message.URI{URI: "data:text/plain;charset=utf-8;base64,aGk="},
			message.Text{Text: "Well?"},
		)}}},
		{name: "audio", only: openai.ChatCompletions, request: host.ChatRequest{Messages: []*message.Message{message.New(
			message.RoleUser, message.URI{URI: "data:audio/wav;base64,UklGRg=="}, message.URI{URI: "data:audio/mpeg;base64,//s="},
		)}}},
		{name: "file_url", only: openai.Responses, request: host.ChatRequest{Messages: []*message.Message{message.New(
			message.RoleUser, message.URI{URI: "https://example.com/a.pdf", MediaType: "application/pdf"},
		)}}},
		{name: "options", request: host.ChatRequest{Messages: host.Text("hi"), Options: host.Options{
			Model: "other", Temperature: new(0.0), TopP: new(0.5), MaxTokens: new(100), Store: new(false),
			Extra: map[string]jsontext.Value{"user": jsontext.Value(`"u1"`), "a.b": jsontext.Value(`{"c":[1,2.50]}`)},
		}}},
		{name: "seed_and_stop", only: openai.ChatCompletions, request: host.ChatRequest{
			Messages: host.Text("hi"), Options: host.Options{Seed: new(7), Stop: []string{"END", "\n"}, MaxTokens: new(5)},
		}, config: openai.Config{MaxTokensField: "max_completion_tokens"}},
		{name: "json_schema", request: host.ChatRequest{Messages: host.Text("hi"), Options: host.Options{ResponseFormat: &host.ResponseFormat{
			Name: "place", Description: "A place.", Schema: jsontext.Value(weatherSchema), Strict: true,
		}}}},
		{name: "json_object", request: host.ChatRequest{Messages: host.Text("hi"), Options: host.Options{ResponseFormat: &host.ResponseFormat{}}}},
		{name: "conversation", only: openai.Responses, request: host.ChatRequest{Messages: host.Text("hi"), ConversationID: "conv_7"}},
		{name: "previous_response", only: openai.Responses, request: host.ChatRequest{Messages: host.Text("hi"), ConversationID: "resp_7"}},
	} {
		for _, api := range bothAPIs {
			if c.only != "" && c.only != api {
				continue
			}
			t.Run(string(api)+"/"+c.name, func(t *testing.T) {
				server := serverOf(t, openaitest.Reply{Text: "ok"})
				c.config.BaseURL, c.config.API = server.URL, api
				_, err := clientOf(t, c.config).Complete(t.Context(), &c.request)
				require.NoError(t, err)
				golden(t, "requests/"+string(api)+"/"+c.name+".json", server.Requests()[0].Body)
			})
		}
	}
}

func TestAStreamIsAskedFor(t *testing.T) {
	for _, api := range bothAPIs {
		server := serverOf(t, openaitest.Reply{Text: "ok"})
		_, err := streamed(t.Context(), clientOf(t, openai.Config{BaseURL: server.URL, API: api}), hello())
		require.NoError(t, err)
		golden(t, "requests/"+string(api)+"/stream.json", server.Requests()[0].Body)
		assert.Equal(t, "text/event-stream", server.Requests()[0].Header.Get("Accept"))
	}
	server := serverOf(t, openaitest.Reply{Text: "ok"})
	_, err := streamed(t.Context(), clientOf(t, openai.Config{BaseURL: server.URL, NoStreamUsage: true}), hello())
	require.NoError(t, err)
	assert.NotContains(t, string(server.Requests()[0].Body), "stream_options")
}

func TestTheRequestIsNotChanged(t *testing.T) {
	for _, api := range bothAPIs {
		server := serverOf(t, openaitest.Reply{Text: "ok"})
		client := clientOf(t, openai.Config{BaseURL: server.URL, API: api, Options: host.Options{Temperature: new(0.5)}})
		request := hello()
		_, err := client.Complete(t.Context(), request)
		require.NoError(t, err)
		assert.Equal(t, hello(), request)
		assert.Contains(t, string(server.Requests()[0].Body), `"temperature":0.5`, "the client's own options hold without an agent too")
	}
}

// TestWhatCannotBeSent: an error that names it, and nothing on the wire.
func TestWhatCannotBeSent(t *testing.T) {
	uri := func(role message.Role, u message.URI) *host.ChatRequest {
		return &host.ChatRequest{Messages: []*message.Message{message.User("x"), message.New(role, u)}}
	}
	withExtra := func(names ...string) *host.ChatRequest {
		r := hello()
		r.Options.Extra = map[string]jsontext.Value{}
		for _, n := range names {
			r.Options.Extra[n] = jsontext.Value("1")
		}
		return r
	}
	for _, c := range []struct {
		name    string
		request *host.ChatRequest
		only    openai.API
		want    []string
	}{
		{name: "scheme", request: uri("user", message.URI{URI: "file:///etc/passwd", MediaType: "image/png"}), want: []string{"message 1", `"file:///etc/passwd"`, "data:"}},
		{name: "no media type", request: uri("user", message.URI{URI: "https://example.com/x"}), want: []string{"https://example.com/x", "no media type"}},
		{name: "no base64", request: uri("user", message.URI{URI: "data:image/png;base64,%%%" + strings.Repeat("A", 5000)}), want: []string{"(5025 bytes)", "% escape"}},
		{name: "no comma", request: uri("user", message.URI{URI: "data:image/png"}), want: []string{"comma"}},
		{name: "assistant image", request: uri("assistant", message.URI{URI: "https://example.com/x.png", MediaType: "image/png"}), want: []string{"https://example.com/x.png", "assistant message", "user messages only"}},
		{name: "file url", only: openai.ChatCompletions, request: uri("user", message.URI{URI: "https://example.com/x.pdf", MediaType: "application/pdf"}), want: []string{"x.pdf", "data: URIs"}},
		{name: "ogg", only: openai.ChatCompletions, request: uri("user", message.URI{URI: "data:audio/ogg;base64,aGk="}), want: []string{"WAV"}},
		{name: "audio", only: openai.Responses, request: uri("user", message.URI{URI: "data:audio/wav;base64,aGk="}), want: []string{"no audio"}},
		{name: "unknown content", request: &host.ChatRequest{Messages: []*message.Message{message.New("user", message.Unknown{Type: "video"})}}, want: []string{`kind "video"`}},
		{name: "text of a tool", request: &host.ChatRequest{Messages: []*message.Message{message.New("tool", message.Text{Text: "x"})}}, want: []string{`kind "text" in a tool message`}},
		{name: "call of a user", request: &host.ChatRequest{Messages: []*message.Message{message.New("user", message.FunctionCall{CallID: "1", Name: "x"})}}, want: []string{"only an assistant"}},
		{name: "result of an assistant", request: &host.ChatRequest{Messages: []*message.Message{assistant(message.FunctionResult{CallID: "1"})}}, want: []string{"tool messages"}},
		{name: "role", request: &host.ChatRequest{Messages: []*message.Message{message.New("root")}}, want: []string{`role "root"`}},
		{name: "required without tools", request: &host.ChatRequest{Options: host.Options{ToolChoice: host.ToolChoice{Mode: host.ToolChoiceRequired}}}, want: []string{"no tools"}},
		{name: "format name", request: &host.ChatRequest{Options: host.Options{ResponseFormat: &host.ResponseFormat{Name: "a b", Schema: jsontext.Value(`{}`)}}}, want: []string{`"a b"`}},
		{name: "schema", request: &host.ChatRequest{Tools: offered(tool{name: "t", schema: document(`[]`)})}, want: []string{"tool t", "JSON object"}},
		{name: "chat extras", only: openai.ChatCompletions, request: withExtra("messages", "model", "stream", "n", "fine"), want: []string{`"messages"`, `"model"`, `"stream"`, `"n"`}},
		{name: "responses extras", only: openai.Responses, request: withExtra("input", "model", "stream", "background", "fine"), want: []string{`"input"`, `"model"`, `"stream"`, `"background"`}},
		{name: "conversation", only: openai.ChatCompletions, request: &host.ChatRequest{ConversationID: "resp_1"}, want: []string{`"resp_1"`, "keeps no conversations"}},
		{name: "seed and stop", only: openai.Responses, request: &host.ChatRequest{Options: host.Options{Seed: new(1), Stop: []string{"x"}}}, want: []string{"option seed", "option stop"}},
	} {
		for _, api := range bothAPIs {
			if c.only != "" && c.only != api {
				continue
			}
			t.Run(string(api)+"/"+c.name, func(t *testing.T) {
				server := serverOf(t)
				client := clientOf(t, openai.Config{BaseURL: server.URL, API: api})
				_, err := client.Complete(t.Context(), c.request)
				_, streamErr := streamed(context.Background(), client, c.request)
				for _, err := range []error{err, streamErr} {
					require.ErrorIs(t, err, host.ErrInvalidRequest)
					for _, want := range c.want {
						assert.ErrorContains(t, err, want)
					}
					assert.Less(t, len(err.Error()), 1200)
					assert.NotContains(t, err.Error(), `"fine"`)
				}
				assert.Empty(t, server.Requests())
			})
		}
	}
}
