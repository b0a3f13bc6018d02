package compaction_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/compaction"
	"github.com/weft-run/weft/message"
)

// look is a tool that finds much.
type look struct{}

func (look) Definition() host.ToolDefinition { return host.ToolDefinition{Name: "look"} }

func (look) Call(context.Context, jsontext.Value) (jsontext.Value, error) {
	return jsontext.Value(`"` + strings.Repeat("x", 400) + `"`), nil
}

// busy is a model that calls look so many times and then says "done".
func busy(calls int) *script {
	return &script{answer: func(_ int, r *host.ChatRequest) (*host.Response, error) {
		n := 0
		if at := len(r.Messages) - 1; r.Messages[at].Role == message.RoleTool {
			id := r.Messages[at].Contents[0].(message.FunctionResult).CallID
			if _, err := fmt.Sscanf(id, "call-%d", &n); err != nil {
				return nil, err
			}
		}
		if n == calls {
			return host.NewResponse("done"), nil
		}
		call := message.FunctionCall{CallID: fmt.Sprintf("call-%d", n+1), Name: "look"}
		return &host.Response{Messages: []*message.Message{message.New(message.RoleAssistant, call)}}, nil
	}}
}

// In a run of many tool calls every model call is kept short, the question stays, nothing is parted, and what is stored is
// all that happened. The service for summaries is asked once per step and not once per model call.
func TestStrategiesInARun(t *testing.T) {
	summaries := saying("It looked, and found x.")
	for name, strategy := range map[string]compaction.Strategy{
		"window":         compaction.SlidingWindow{KeepLastGroups: 4},
		"context window": compaction.ContextWindow{WindowTokens: 2000, Tokenizer: letters, KeepToolResults: new(1)},
		"budget":         compaction.TokenBudget{MaxTokens: 1500, Tokenizer: letters, Strategies: []compaction.Strategy{compaction.ToolResult{KeepLastToolCallGroups: 2, MaxResult: 50}}},
		"summary":        &compaction.Summarization{Client: summaries, KeepLastGroups: 2, MaxGroups: 5},
	} {
		t.Run(name, func(t *testing.T) {
			for _, streamed := range []bool{false, true} {
				model := busy(20)
				a, err := host.NewAgent(host.AgentConfig{Client: model, Tools: []host.Tool{look{}}, Compaction: strategy})
				require.NoError(t, err)
				session := host.NewSession("")
				response := runOrStream(t, a, "find it", session, streamed)
				require.Contains(t, response.Text(), "done")
				require.Len(t, model.requests, 21)
				for i, r := range model.requests {
					require.Contains(t, words(r.Messages), "find it", "call %d", i)
					require.Less(t, compaction.CountMessages(letters, r.Messages...), 3400, "call %d", i)
					require.Empty(t, broken(r.Messages, r.Messages, nil, oath{}), "call %d", i)
				}
				require.Len(t, stored(t, session), 1+2*20+1, "what is stored is whole")
			}
		})
	}
	require.Less(t, summaries.asked(), 7, "two runs of 21 model calls")
}

func runOrStream(t *testing.T, a *host.Agent, text string, session *host.Session, streamed bool) *host.Response {
	t.Helper()
	if !streamed {
		response, err := a.Run(t.Context(), host.Text(text), host.RunConfig{Session: session})
		require.NoError(t, err)
		return response
	}
	stream := a.Stream(t.Context(), host.Text(text), host.RunConfig{Session: session})
	response, err := stream.Response()
	require.NoError(t, err)
	return response
}

// After a run, what is stored is summarised; the marks and summaries live through saving and restoring, later summaries
// take in earlier ones, and a full history beside it has everything.
func TestASummarisedHistoryBesideAFullOne(t *testing.T) {
	summaries := &script{answer: func(n int, _ *host.ChatRequest) (*host.Response, error) {
		return host.NewResponse(fmt.Sprintf("summary-%d", n)), nil
	}}
	model := &script{answer: func(n int, _ *host.ChatRequest) (*host.Response, error) {
		return host.NewResponse(fmt.Sprintf("a%d", n)), nil
	}}
	a, err := host.NewAgent(host.AgentConfig{Client: model, Providers: []host.Provider{
		compaction.NewProvider(compaction.Config{After: &compaction.Summarization{Client: summaries, KeepLastGroups: 2, MaxGroups: 4, OnError: host.OnErrorFail}}),
		host.NewInMemoryHistory(host.HistoryConfig{SkipExcluded: true}),
		host.NewInMemoryHistory(host.HistoryConfig{SourceID: "full", LoadMessages: host.LoadNever}),
	}})
	require.NoError(t, err)
	session := host.NewSession("")
	var want []string
	for i := range 8 {
		_, err := a.Run(t.Context(), host.Text(fmt.Sprintf("u%d", i+1)), host.RunConfig{Session: session})
		require.NoError(t, err)
		want = append(want, fmt.Sprintf("u%d a%d", i+1, i+1))
		saved, err := session.MarshalJSON()
		require.NoError(t, err)
		session, err = host.RestoreSession(saved)
		require.NoError(t, err)
	}
	require.Equal(t, []string{
		"u1", "u1 a1 u2", "u1 a1 u2 a2 u3", "[Summary of 3 earlier messages]\nsummary-1 a2 u3 a3 u4",
	}, model.sent()[:4])
	for _, sent := range model.sent() {
		require.LessOrEqual(t, strings.Count(sent, "Summary of"), 1)
	}
	require.Contains(t, summaries.sent()[1], `{"summary":"[Summary of 3 earlier messages]\nsummary-1"}`)

	kept := stored(t, session)
	visible := 0
	for _, m := range kept {
		if !m.Excluded() {
			visible++
		}
		if m.Properties[compaction.PropertySummary] != nil {
			require.Equal(t, compaction.DefaultSourceID, m.SourceID)
		}
	}
	require.LessOrEqual(t, visible, 4)
	require.Len(t, kept, 16+summaries.asked(), "nothing is removed")
	full, err := host.StoredMessages(session.State("full"))
	require.NoError(t, err)
	require.Equal(t, strings.Join(want, " "), plain(full))
	for _, m := range full {
		require.False(t, m.Excluded())
	}
}

// Before a run, what was loaded is thinned out for the model, and the store keeps what it had.
func TestStrategiesBeforeARun(t *testing.T) {
	for name, c := range map[string]struct {
		strategy compaction.Strategy
		want     string
	}{
		"budget":         {compaction.TokenBudget{MaxTokens: 2 * each, Tokenizer: letters}, "u3 a3 u4"},
		"context window": {compaction.ContextWindow{WindowTokens: 20, ReserveOutput: new(0), Tokenizer: letters}, "u3 a3 u4"},
		"summary":        {&compaction.Summarization{Client: saying("x"), KeepLastGroups: 2, MaxGroups: 4}, "[Summary of 3 earlier messages]\nx a2 u3 a3 u4"},
	} {
		model := &listener{}
		history := host.NewInMemoryHistory(host.HistoryConfig{})
		session := host.NewSession("")
		plainAgent := agent(t, model, history)
		for i := range 3 {
			_, err := plainAgent.Run(t.Context(), host.Text(fmt.Sprintf("u%d", i+1)), host.RunConfig{Session: session})
			require.NoError(t, err)
		}
		_, err := agent(t, model, history, compaction.NewProvider(compaction.Config{Before: c.strategy})).
			Run(t.Context(), host.Text("u4"), host.RunConfig{Session: session})
		require.NoError(t, err)
		require.Equal(t, c.want, model.sent[3], name)
		require.Equal(t, "u1 a1 u2 a2 u3 a3 u4 a4", shown(stored(t, session)), name)
	}
}

// A failed summary after the run costs nothing: the run is done and the history is whole.
func TestAFailedSummaryAfterTheRun(t *testing.T) {
	strategy := &compaction.Summarization{Client: saying(""), MaxGroups: 1, OnError: host.OnErrorFail}
	a := agent(t, &listener{}, compaction.NewProvider(compaction.Config{After: strategy}), host.NewInMemoryHistory(host.HistoryConfig{SkipExcluded: true}))
	session := host.NewSession("")
	response, err := a.Run(t.Context(), talk("u1"), host.RunConfig{Session: session})
	var failed *compaction.SummaryError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, "a1", response.Text())
	require.Equal(t, "u1 a1", shown(stored(t, session)))
}

// One agent and its strategies serve many sessions at once.
func TestManyGoroutines(t *testing.T) {
	const goroutines = 64
	summaries := saying("short")
	strategy := compaction.TokenBudget{MaxTokens: 1200, Tokenizer: letters, Strategies: []compaction.Strategy{
		compaction.ContextWindow{WindowTokens: 4000, Tokenizer: letters},
		&compaction.Summarization{Client: summaries, KeepLastGroups: 1, MaxGroups: 3, CacheSize: 4},
	}}
	var wait sync.WaitGroup
	for i := range goroutines {
		wait.Go(func() {
			a, err := host.NewAgent(host.AgentConfig{
				Client: busy(6), Tools: []host.Tool{look{}}, Compaction: strategy,
				Providers: []host.Provider{
					compaction.NewProvider(compaction.Config{After: strategy}),
					host.NewInMemoryHistory(host.HistoryConfig{SkipExcluded: true}),
				},
			})
			if err != nil {
				t.Error(err)
				return
			}
			session := host.NewSession("")
			for n := range 2 {
				if _, err := a.Run(t.Context(), host.Text(fmt.Sprintf("question %d", (i+n)%3)), host.RunConfig{Session: session}); err != nil {
					t.Error(err)
				}
			}
			messages, err := host.StoredMessages(session.State(host.DefaultHistoryID))
			if err != nil || len(messages) < 2*14 {
				t.Error("something is lost", len(messages), err)
			}
		})
	}
	wait.Wait()
	require.Positive(t, summaries.asked())
}

// Many runs of one session summarise its history at once: nothing is lost, and each message that is out of sight is in
// exactly one summary that is not.
func TestManyRunsSummariseOneHistory(t *testing.T) {
	const goroutines, rounds = 64, 3
	a := agent(
		t, &listener{},
		compaction.NewProvider(compaction.Config{After: &compaction.Summarization{Client: saying("short"), KeepLastGroups: 3, MaxGroups: 6}}),
		host.NewInMemoryHistory(host.HistoryConfig{SkipExcluded: true}),
	)
	session := host.NewSession("")
	var wait sync.WaitGroup
	for i := range goroutines {
		wait.Go(func() {
			for n := range rounds {
				if _, err := a.Run(t.Context(), talk(fmt.Sprintf("u%d.%d", i, n)), host.RunConfig{Session: session}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	said, hidden, told := 0, 0, 0
	for _, m := range stored(t, session) {
		mark, summary := m.Properties[compaction.PropertySummary]
		switch {
		case !summary:
			said++
			if m.Excluded() {
				hidden++
			}
		case !m.Excluded():
			var n int
			_, err := fmt.Sscanf(string(mark), `{"messages":%d}`, &n)
			require.NoError(t, err)
			told += n
		}
	}
	require.Equal(t, 2*goroutines*rounds, said)
	require.Positive(t, hidden)
	require.Equal(t, hidden, told)
}
