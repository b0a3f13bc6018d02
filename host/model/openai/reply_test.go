package openai_test

import (
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

// added adds updates up as an agent does.
func added(t *testing.T, updates []*host.Update) *host.Response {
	t.Helper()
	agent, err := host.NewAgent(host.AgentConfig{Name: "sum", Client: scripted(updates)})
	require.NoError(t, err)
	stream := agent.Stream(t.Context(), host.Text("x"), host.RunConfig{})
	r, err := stream.Response()
	require.NoError(t, err)
	return r
}

// TestReplies: what the model says arrives whole, streamed or not, wherever the bytes are cut.
func TestReplies(t *testing.T) {
	usage := &openaitest.Usage{Input: 10, Output: 5, Cached: 4, Reasoning: 3}
	counted := &host.Usage{InputTokens: 10, OutputTokens: 5, CachedInputTokens: 4, ReasoningTokens: 3}
	for _, c := range []struct {
		name  string
		reply openaitest.Reply
		want  []message.Content
		end   host.FinishReason
		usage *host.Usage
	}{
		{"text", openaitest.Reply{Text: "Grüß Gott, 世界 🌍!", Usage: usage}, []message.Content{message.Text{Text: "Grüß Gott, 世界 🌍!"}}, host.FinishStop, counted},
		{"without usage", openaitest.Reply{Text: "hi"}, []message.Content{message.Text{Text: "hi"}}, host.FinishStop, nil},
		{"nothing", openaitest.Reply{}, nil, host.FinishStop, nil},
		{"cut", openaitest.Reply{Text: "and then", FinishReason: "length"}, []message.Content{message.Text{Text: "and then"}}, host.FinishLength, nil},
		{"filtered", openaitest.Reply{Text: "and", FinishReason: "content_filter"}, []message.Content{message.Text{Text: "and"}}, host.FinishContentFilter, nil},
		{"reasoning", openaitest.Reply{Reasoning: "Two and two ", Text: "Four. "}, []message.Content{message.Reasoning{Text: "Two and two "}, message.Text{Text: "Four. "}}, host.FinishStop, nil},
		{"refusal", openaitest.Reply{Refusal: "I can not do that."}, []message.Content{message.Error{Message: "I can not do that.", Code: "refusal"}}, host.FinishContentFilter, nil},
		{
			"calls",
			openaitest.Reply{Text: "Let me look.", Calls: []openaitest.Call{
				{ID: "a", Name: "weather", Arguments: `{"place":"Zürich","n":1.50}`}, {ID: "b", Name: "now"}, {ID: "c", Name: "now", Arguments: `{"broken`},
			}},
			[]message.Content{
				message.Text{Text: "Let me look."},
				message.FunctionCall{CallID: "a", Name: "weather", Arguments: jsontext.Value(`{"place":"Zürich","n":1.50}`)},
				message.FunctionCall{CallID: "b", Name: "now"},
				message.FunctionCall{CallID: "c", Name: "now", Arguments: jsontext.Value(`"{\"broken"`)},
			},
			host.FinishToolCalls, nil,
		},
	} {
		for _, api := range bothAPIs {
			t.Run(string(api)+"/"+c.name, func(t *testing.T) {
				replies := []openaitest.Reply{c.reply}
				for _, size := range []int{0, 1, 2, 3, 7, 64} {
					reply := c.reply
					reply.PieceBytes = size
					replies = append(replies, reply)
				}
				server := serverOf(t, replies...)
				client := clientOf(t, openai.Config{BaseURL: server.URL, API: api})
				whole, err := client.Complete(t.Context(), hello())
				require.NoError(t, err)
				assert.Equal(t, c.end, whole.FinishReason)
				assert.Equal(t, c.usage, whole.Usage)
				assert.Equal(t, "test-model", whole.Model)
				assert.NotEmpty(t, whole.ID)
				if len(c.want) == 0 {
					assert.Empty(t, whole.Messages)
				} else {
					require.Len(t, whole.Messages, 1)
					assert.Equal(t, message.RoleAssistant, whole.Messages[0].Role)
					assert.Equal(t, c.want, whole.Messages[0].Contents)
				}
				for range replies[1:] {
					updates, err := streamed(t.Context(), client, hello())
					require.NoError(t, err)
					sum := added(t, updates)
					for i, m := range sum.Messages { // ids count the requests
						if m.ID != "" {
							m.ID = whole.Messages[i].ID
						}
					}
					sum.ID, sum.ConversationID = whole.ID, whole.ConversationID
					require.Equal(t, whole, sum)
				}
			})
		}
	}
}

// TestTheOrderOfUpdates: words at once, calls together, then what counts the whole.
func TestTheOrderOfUpdates(t *testing.T) {
	for _, api := range bothAPIs {
		server := serverOf(t, openaitest.Reply{
			Reasoning: "Hm.", Text: "one two", Usage: &openaitest.Usage{Input: 1},
			Calls: []openaitest.Call{{ID: "a", Name: "x", Arguments: "{}"}, {ID: "b", Name: "y", Arguments: "{}"}},
		})
		updates, err := streamed(t.Context(), clientOf(t, openai.Config{BaseURL: server.URL, API: api}), hello())
		require.NoError(t, err)
		var said []string
		for _, u := range updates {
			var kinds []string
			for _, c := range u.Contents {
				kinds = append(kinds, string(c.Kind()))
			}
			said = append(said, strings.Join(kinds, "+")+u.Text()+string(u.FinishReason))
			assert.Equal(t, u == updates[len(updates)-1], u.Usage != nil)
			assert.Equal(t, u == updates[len(updates)-1] && api == openai.Responses, u.ConversationID != "")
			assert.NotEmpty(t, u.ResponseID)
		}
		assert.Equal(t, []string{"reasoning", "textone ", "texttwo", "function_call+function_call", "tool_calls"}, said, api)
	}
}

func TestConversationIDs(t *testing.T) {
	for _, c := range []struct {
		name, conversation string
		store              *bool
		want               string
	}{
		{"stored", "", nil, "resp_1"},
		{"told to store", "", new(true), "resp_1"},
		{"told not to", "", new(false), ""},
		{"after a response", "resp_0", nil, "resp_1"},
		{"in a conversation", "conv_9", nil, "conv_9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			request := hello()
			request.ConversationID, request.Options.Store = c.conversation, c.store
			server := serverOf(t, openaitest.Reply{Text: "hi"})
			r, err := clientOf(t, openai.Config{BaseURL: server.URL, API: openai.Responses}).Complete(t.Context(), request)
			require.NoError(t, err)
			assert.Equal(t, c.want, r.ConversationID)
		})
	}
	server := serverOf(
		t, openaitest.Reply{Text: "hi"}, openaitest.Body("application/json", `{"id":"r","status":"completed","store":false}`, 0),
	)
	r, err := clientOf(t, openai.Config{BaseURL: server.URL}).Complete(t.Context(), hello())
	require.NoError(t, err)
	assert.Empty(t, r.ConversationID, "chat completions keeps none")
	r, err = clientOf(t, openai.Config{BaseURL: server.URL, API: openai.Responses}).Complete(t.Context(), hello())
	require.NoError(t, err)
	assert.Empty(t, r.ConversationID, "the service says that it kept nothing")
}

// TestDialects are answers of servers that take the protocol their own way.
func TestDialects(t *testing.T) {
	call := func(id, name, arguments string) message.FunctionCall {
		return message.FunctionCall{CallID: id, Name: name, Arguments: jsontext.Value(arguments)}
	}
	for _, c := range []struct {
		name, contentType, body string
		stream                  bool
		api                     openai.API
		want                    []message.Content
	}{
		{
			name: "reasoning, null error, unknown fields", body: `{"id":"1","error":null,"x_extra":{"a":[1]},"choices":[{"message":{"role":"assistant","reasoning":"Hm.","reasoning_details":[{}],"content":"Yes."},"finish_reason":"stop","stop_reason":null}]}`,
			want: []message.Content{message.Reasoning{Text: "Hm."}, message.Text{Text: "Yes."}},
		},
		{
			name: "arguments as an object, no content type", contentType: "", body: `{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":{"n":1}}}]},"finish_reason":"stop"}]}`,
			want: []message.Content{call("a", "f", `{"n":1}`)},
		},
		{
			name: "null error in a stream, comments, CRLF, no mark at the end", stream: true, contentType: "text/plain",
			body: ": hi\r\n\r\ndata: {\"error\":null,\"choices\":[{\"delta\":{\"content\":\"Yes.\"}}]}\r\n\r\ndata:{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\r\n\r\n",
			want: []message.Content{message.Text{Text: "Yes."}},
		},
		{
			name: "the mark alone, and an event of two lines", stream: true, body: "data: {\"choices\":[{\"delta\":\ndata: {\"content\":\"Yes.\"}}]}\n\ndata: [DONE]\n\n",
			want: []message.Content{message.Text{Text: "Yes."}},
		},
		{
			name: "all calls under one index, the name again", stream: true,
			body: `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"n\""}}]}}]}` + "\n\n" +
				`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":":1}"}}]}}]}` + "\n\n" +
				`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}]},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n",
			want: []message.Content{call("a", "f", `{"n":1}`), call("b", "g", `{}`)},
		},
		{
			name: "a whole answer where a stream was asked for", stream: true, contentType: "application/json",
			body: `{"choices":[{"message":{"content":"Yes."},"finish_reason":"stop"}]}`, want: []message.Content{message.Text{Text: "Yes."}},
		},
		{
			name: "a second choice", stream: true,
			body: `data: {"choices":[{"index":1,"delta":{"content":"No."}},{"index":0,"delta":{"content":"Yes."},"finish_reason":"stop"}]}` + "\n\n",
			want: []message.Content{message.Text{Text: "Yes."}},
		},
		{
			name: "responses: parts of reasoning, unknown items", api: openai.Responses,
			body: `{"id":"r","status":"completed","output":[{"type":"web_search_call","id":"w"},{"type":"reasoning","summary":[{"text":"One."},{"text":"Two."}]},{"type":"message","id":"m","content":[{"type":"output_text","text":"Yes."}]}]}`,
			want: []message.Content{message.Reasoning{Text: "One.\n\nTwo."}, message.Text{Text: "Yes."}},
		},
		{
			name: "responses: two texts of one message", api: openai.Responses,
			body: `{"status":"completed","output":[{"type":"message","id":"m","content":[{"type":"output_text","text":"Y"},{"type":"output_text","text":"es."}]}]}`,
			want: []message.Content{message.Text{Text: "Yes."}},
		},
		{
			name: "responses: all in the last event", api: openai.Responses, stream: true,
			body: `data: {"type":"response.completed","response":{"id":"r","status":"completed","output":[{"type":"message","id":"m","content":[{"type":"output_text","text":"Yes."}]},{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}]}}` + "\n\n",
			want: []message.Content{message.Text{Text: "Yes."}, call("a", "f", `{}`)},
		},
		{
			name: "responses: events named by the event line alone", api: openai.Responses, stream: true,
			body: "event: response.output_text.delta\ndata: {\"delta\":\"Yes.\",\"item_id\":\"m\"}\n\nevent: response.completed\ndata: {\"response\":{\"status\":\"completed\"}}\n\n",
			want: []message.Content{message.Text{Text: "Yes."}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.contentType == "" && c.stream {
				c.contentType = "text/event-stream"
			}
			server := serverOf(t, openaitest.Body(c.contentType, c.body, 5))
			client := clientOf(t, openai.Config{BaseURL: server.URL, API: c.api})
			var r *host.Response
			var err error
			if c.stream {
				var updates []*host.Update
				if updates, err = streamed(t.Context(), client, hello()); err == nil {
					r = added(t, updates)
				}
			} else {
				r, err = client.Complete(t.Context(), hello())
			}
			require.NoError(t, err)
			require.Len(t, r.Messages, 1)
			assert.Equal(t, c.want, r.Messages[0].Contents)
		})
	}
}

func TestACallWithoutAnID(t *testing.T) {
	server := serverOf(t, openaitest.Reply{Calls: []openaitest.Call{{Name: "f"}, {Name: "f"}}})
	r, err := clientOf(t, openai.Config{BaseURL: server.URL}).Complete(t.Context(), hello())
	require.NoError(t, err)
	first, second := r.Messages[0].Contents[0].(message.FunctionCall), r.Messages[0].Contents[1].(message.FunctionCall)
	assert.NotEmpty(t, first.CallID)
	assert.NotEqual(t, first.CallID, second.CallID, "results must find their call")
}

// TestMessagesOfResponses: two messages of one answer stay two.
func TestMessagesOfResponses(t *testing.T) {
	const output = `[{"type":"message","id":"m1","content":[{"type":"output_text","text":"One."}]},{"type":"message","id":"m2","content":[{"type":"output_text","text":"Two."}]}]`
	whole := `{"id":"r","status":"completed","output":` + output + `}`
	stream := "data: {\"type\":\"response.output_text.delta\",\"item_id\":\"m1\",\"delta\":\"One.\"}\n\n" +
		"data: {\"type\":\"response.output_text.delta\",\"item_id\":\"m2\",\"delta\":\"Two.\"}\n\n" +
		"data: {\"type\":\"response.completed\",\"response\":" + whole + "}\n\n"
	server := serverOf(t, openaitest.Body("application/json", whole, 0), openaitest.Body("text/event-stream", stream, 0))
	client := clientOf(t, openai.Config{BaseURL: server.URL, API: openai.Responses})
	r, err := client.Complete(t.Context(), hello())
	require.NoError(t, err)
	require.Len(t, r.Messages, 2)
	assert.Equal(t, "m2", r.Messages[1].ID)
	updates, err := streamed(t.Context(), client, hello())
	require.NoError(t, err)
	assert.Equal(t, r, added(t, updates))
}
