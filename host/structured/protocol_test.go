package structured_test

import (
	"context"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/middleware"
	"github.com/weft-run/weft/host/model/openai"
	"github.com/weft-run/weft/host/model/openai/openaitest"
	"github.com/weft-run/weft/host/structured"
	"github.com/weft-run/weft/host/tool"
)

// Over a socket, with all that usually stands around a model: a refused call that is tried again, a tool round, an answer
// that does not fit, and one that does.
func TestOverTheProtocol(t *testing.T) {
	for _, api := range []openai.API{openai.ChatCompletions, openai.Responses} {
		both(t, func(t *testing.T, streamed bool) {
			server := openaitest.New(
				openaitest.Status(http.StatusTooManyRequests, http.Header{"Retry-After-Ms": {"1"}}, `{"error":{"message":"slow down"}}`),
				openaitest.Reply{Calls: []openaitest.Call{{ID: "c1", Name: "measure", Arguments: `{"place":"Oslo"}`}}, PieceBytes: 7},
				openaitest.Reply{Text: `{"city":"Oslo"}`, Usage: &openaitest.Usage{Input: 5, Output: 2}, PieceBytes: 5},
				openaitest.Reply{Text: good, Usage: &openaitest.Usage{Input: 9, Output: 3}, PieceBytes: 3},
			)
			defer server.Close()
			client, err := openai.New(openai.Config{Model: "m", BaseURL: server.URL, API: api, APIKey: "sk-planted", Options: host.Options{Store: new(false)}})
			require.NoError(t, err)
			defer client.Close()
			agent := newAgent(t, host.AgentConfig{
				Client: client,
				Tools: []host.Tool{tool.Must(tool.New(tool.Config{Name: "measure"}, func(_ context.Context, in struct {
					Place string `json:"place"`
				},
				) (int, error) {
					assert.Equal(t, "Oslo", in.Place)
					return 3, nil
				}))},
				Middleware: middleware.Join(
					middleware.NewPII(middleware.PIIConfig{}),
					middleware.NewRetry(middleware.RetryConfig{BaseDelay: time.Millisecond, Logger: slog.New(slog.DiscardHandler)}),
					middleware.NewBudget(middleware.BudgetConfig{}),
					middleware.NewTimeouts(middleware.TimeoutsConfig{}),
				),
			})
			session := agent.CreateSession("")
			out := ask(t, agent, streamed, host.RunConfig{Session: session}, structured.Config{})
			require.NoError(t, out.err)
			assert.Equal(t, forecast{"Oslo", 3}, out.value)
			assert.Equal(t, 14, out.response.Usage.InputTokens)
			require.Len(t, server.Requests(), 4)
			for _, r := range server.Requests()[1:] {
				assert.Contains(t, string(r.Body), `"json_schema"`)
			}
			assert.Contains(t, string(server.Requests()[3].Body), "degrees", "the model is told what is missing")
			stored, err := host.StoredMessages(session.State("in_memory"))
			require.NoError(t, err)
			require.Len(t, stored, 4, "question, call, result and the good answer")
			assert.JSONEq(t, good, stored[3].Text())
			used, err := middleware.SessionUsed(session, "")
			require.NoError(t, err)
			assert.EqualValues(t, 3, used.ModelCalls, "each attempt counts; the repair, further in, is part of its call")
			assert.EqualValues(t, 14, used.InputTokens, "and its tokens count all the same")
		})
	}
}
