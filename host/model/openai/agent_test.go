package openai_test

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/model/openai"
	"github.com/weft-run/weft/host/model/openai/openaitest"
)

// scripted is a client that streams what it is made of.
type scripted []*host.Update

func (s scripted) Complete(context.Context, *host.ChatRequest) (*host.Response, error) {
	return nil, fmt.Errorf("this client only streams")
}

func (s scripted) Stream(context.Context, *host.ChatRequest) iter.Seq2[*host.Update, error] {
	return func(yield func(*host.Update, error) bool) {
		for _, u := range s {
			if !yield(u, nil) {
				return
			}
		}
	}
}

// conversation is two turns with a round of two parallel calls in the first.
func conversation(t *testing.T, api openai.API, stream bool) ([]*host.Response, *openaitest.Server) {
	t.Helper()
	usage := &openaitest.Usage{Input: 7, Output: 3, Cached: 2, Reasoning: 1}
	server := serverOf(
		t,
		openaitest.Reply{Reasoning: "I look.", Text: "One moment. ", Usage: usage, PieceBytes: 11, Calls: []openaitest.Call{
			{ID: "call_a", Name: "weather", Arguments: `{"zone":"Zürich"}`}, {ID: "call_b", Name: "weather", Arguments: `{"zone":"Bern"}`},
		}},
		openaitest.Reply{Text: "Sun in both.", Usage: usage, PieceBytes: 3},
		openaitest.Reply{Text: "You asked for the weather.", Usage: usage},
	)
	agent, err := host.NewAgent(host.AgentConfig{
		Name: "guide", Instructions: "Be brief.",
		Client: clientOf(t, openai.Config{BaseURL: server.URL, API: api}),
		Tools: []host.Tool{tool{
			name: "weather", schema: document(weatherSchema),
			call: func(a jsontext.Value) (jsontext.Value, error) {
				return jsontext.Value(`{"asked":` + string(a) + `}`), nil
			},
		}},
	})
	require.NoError(t, err)
	session := agent.CreateSession("s")
	var responses []*host.Response
	for _, says := range []string{"How is the weather?", "What did I ask?"} {
		var r *host.Response
		if stream {
			r, err = agent.Stream(t.Context(), host.Text(says), host.RunConfig{Session: session}).Response()
		} else {
			r, err = agent.Run(t.Context(), host.Text(says), host.RunConfig{Session: session})
		}
		require.NoError(t, err)
		responses = append(responses, r)
	}
	return responses, server
}

// TestAConversationThroughAnAgent: the same streamed and not, and each request has what its API is to get.
func TestAConversationThroughAnAgent(t *testing.T) {
	for _, api := range bothAPIs {
		t.Run(string(api), func(t *testing.T) {
			whole, server := conversation(t, api, false)
			pieces, streaming := conversation(t, api, true)
			assert.Equal(t, whole, pieces)
			assert.Equal(t, "One moment. Sun in both.", whole[0].Text())
			assert.Equal(t, "You asked for the weather.", whole[1].Text())
			assert.Equal(t, &host.Usage{InputTokens: 14, OutputTokens: 6, CachedInputTokens: 4, ReasoningTokens: 2}, whole[0].Usage)
			require.Len(t, streaming.Requests(), 3)
			for i, r := range server.Requests() {
				golden(t, fmt.Sprintf("conversation/%s-%d.json", api, i+1), r.Body)
			}
		})
	}
}
