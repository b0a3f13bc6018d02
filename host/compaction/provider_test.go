package compaction_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/compaction"
	"github.com/weft-run/weft/message"
)

// listener is a model that says "a1", "a2", … and remembers what it was sent.
type listener struct {
	mu   sync.Mutex
	sent []string
}

func (l *listener) Complete(_ context.Context, r *host.ChatRequest) (*host.Response, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent = append(l.sent, words(r.Messages))
	return host.NewResponse(fmt.Sprintf("a%d", len(l.sent))), nil
}

func (l *listener) Stream(context.Context, *host.ChatRequest) iter.Seq2[*host.Update, error] {
	return func(func(*host.Update, error) bool) {}
}

func agent(t *testing.T, model *listener, providers ...host.Provider) *host.Agent {
	t.Helper()
	a, err := host.NewAgent(host.AgentConfig{Client: model, Providers: providers})
	require.NoError(t, err)
	return a
}

func stored(t *testing.T, s *host.Session) []*message.Message {
	t.Helper()
	messages, err := host.StoredMessages(s.State(host.DefaultHistoryID))
	require.NoError(t, err)
	return messages
}

// shown is what is stored without what is marked.
func shown(messages []*message.Message) string {
	var out []*message.Message
	for _, m := range messages {
		if !m.Excluded() {
			out = append(out, m)
		}
	}
	return words(out)
}

func TestDefaults(t *testing.T) {
	p := compaction.NewProvider(compaction.Config{})
	require.Equal(t, compaction.DefaultSourceID, p.SourceID())
	require.Equal(t, "compaction", p.SourceType())

	session := host.NewSession("")
	_, err := agent(t, &listener{}, p).Run(t.Context(), host.Text("u1"), host.RunConfig{Session: session})
	require.NoError(t, err)
	require.Empty(t, session.Sources(), "a provider without strategies leaves no trace")
}

// Marks are part of the stored messages: they outlive saving and restoring, and the messages themselves are all there.
func TestAfterRunMarksWhatIsStored(t *testing.T) {
	model := &listener{}
	a := agent(
		t, model,
		compaction.NewProvider(compaction.Config{After: compaction.ToolResult{}}),
		host.NewInMemoryHistory(host.HistoryConfig{SkipExcluded: true}),
	)
	session := host.NewSession("")
	_, err := a.Run(t.Context(), talk("u1 c1 r1"), host.RunConfig{Session: session})
	require.NoError(t, err)
	require.Equal(t, "u1 c1 r1 [Tool results: t1: res1] a1", words(stored(t, session)))
	require.Equal(t, "u1 [Tool results: t1: res1] a1", shown(stored(t, session)))
	require.Equal(t, "compaction", stored(t, session)[3].SourceID)

	saved, err := session.MarshalJSON()
	require.NoError(t, err)
	session, err = host.RestoreSession(saved)
	require.NoError(t, err)
	_, err = a.Run(t.Context(), talk("u2"), host.RunConfig{Session: session})
	require.NoError(t, err)
	require.Equal(t, "u1 [Tool results: t1: res1] a1 u2", model.sent[1])
	require.Equal(t, "u1 c1 r1 [Tool results: t1: res1] a1 u2 a2", words(stored(t, session)), "no line twice")
}

func TestAFullHistoryStandsBesideACompactedOne(t *testing.T) {
	a := agent(
		t, &listener{},
		compaction.NewProvider(compaction.Config{After: compaction.SlidingWindow{KeepLastGroups: 1}}),
		host.NewInMemoryHistory(host.HistoryConfig{SkipExcluded: true}),
		host.NewInMemoryHistory(host.HistoryConfig{SourceID: "full", LoadMessages: host.LoadNever, StoreContextMessages: true}),
	)
	session := host.NewSession("")
	for _, text := range []string{"u1", "u2"} {
		_, err := a.Run(t.Context(), host.Text(text), host.RunConfig{Session: session})
		require.NoError(t, err)
	}
	require.Equal(t, "a2", shown(stored(t, session)))
	full, err := host.StoredMessages(session.State("full"))
	require.NoError(t, err)
	require.Equal(t, "u1 a1 a1 u2 a2", shown(full), "nothing is marked here, the context included")
}

// What comes into the store while a strategy thinks is kept, and two compactions at once put in no line twice.
func TestManyRunsOfOneSession(t *testing.T) {
	a := agent(
		t, &listener{},
		compaction.NewProvider(compaction.Config{After: compaction.ToolResult{}}),
		host.NewInMemoryHistory(host.HistoryConfig{SkipExcluded: true}),
	)
	session := host.NewSession("")
	const runs, rounds = 8, 10
	var wait sync.WaitGroup
	for i := range runs {
		wait.Go(func() {
			for n := range rounds {
				input := talk(fmt.Sprintf("u1 c%d.%d r%d.%d", i, n, i, n))
				if _, err := a.Run(t.Context(), input, host.RunConfig{Session: session}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	calls, lines, marked := 0, 0, 0
	for _, m := range stored(t, session) {
		if m.SourceID == "compaction" {
			lines++
		}
		if m.Excluded() {
			marked++
		}
		for _, c := range m.Contents {
			if c.Kind() == message.KindFunctionCall {
				calls++
			}
		}
	}
	require.Equal(t, runs*rounds, calls, "nothing is lost")
	require.Equal(t, 2*lines, marked, "one line for each call and its result")
}

func TestBeforeRunThinsOutContext(t *testing.T) {
	model := &listener{}
	var sources []host.Source
	a := agent(
		t, model,
		host.BeforeRunFunc("rag", func(_ context.Context, sc *host.SessionContext) error {
			sc.ExtendMessages(talk("u1 c1 r1")...)
			return nil
		}),
		host.BeforeRunFunc("notes", func(_ context.Context, sc *host.SessionContext) error {
			sc.ExtendMessages(talk("u2 u3!")...)
			return nil
		}),
		compaction.NewProvider(compaction.Config{Before: compaction.ToolResult{}}),
		compaction.NewProvider(compaction.Config{SourceID: "second", Before: compaction.SlidingWindow{KeepLastGroups: 2}}),
		host.BeforeRunFunc("late", func(_ context.Context, sc *host.SessionContext) error {
			sources = sc.Sources()
			sc.ExtendMessages(talk("u4")...)
			return nil
		}),
	)
	_, err := a.Run(t.Context(), talk("u5"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, "u2 u3! u4 u5", model.sent[0])
	require.Len(t, sources, 1, "a source whose messages are all gone holds none")
	require.Equal(t, "notes", sources[0].SourceID)
	require.Equal(t, "notes", sources[0].Messages[0].SourceID)
}

// A line stands in the place of what it replaces, under that source, and says who made it.
func TestLinesInContext(t *testing.T) {
	var sources []host.Source
	a := agent(
		t, &listener{},
		host.BeforeRunFunc("rag", func(_ context.Context, sc *host.SessionContext) error {
			sc.ExtendMessages(talk("u1 c1 r1")...)
			return nil
		}),
		host.BeforeRunFunc("notes", func(_ context.Context, sc *host.SessionContext) error {
			sc.ExtendMessages(talk("u2")...)
			return nil
		}),
		compaction.NewProvider(compaction.Config{Before: compaction.ToolResult{}}),
		host.BeforeRunFunc("late", func(_ context.Context, sc *host.SessionContext) error {
			sources = sc.Sources()
			return nil
		}),
	)
	_, err := a.Run(t.Context(), talk("u5"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, "u1 [Tool results: t1: res1]", words(sources[0].Messages))
	require.Equal(t, "rag", sources[0].SourceID)
	require.Equal(t, "compaction", sources[0].Messages[1].SourceID)
	require.Equal(t, "u2", words(sources[1].Messages))
}

func TestACallThatTheInputAnswersStays(t *testing.T) {
	model := &listener{}
	a := agent(
		t, model,
		host.BeforeRunFunc("old", func(_ context.Context, sc *host.SessionContext) error {
			sc.ExtendMessages(talk("u1 c1 u2")...)
			return nil
		}),
		compaction.NewProvider(compaction.Config{Before: compaction.SlidingWindow{KeepLastGroups: 1}}),
	)
	_, err := a.Run(t.Context(), talk("r1"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, "c1 u2 r1", model.sent[0])
}

// Each try of a wrapping provider starts from the context as it stood before the last one.
func TestANewTryStartsFromTheWholeContext(t *testing.T) {
	model := &listener{}
	var tries []string
	a := agent(
		t, model,
		host.BeforeRunFunc("old", func(_ context.Context, sc *host.SessionContext) error {
			sc.ExtendMessages(talk("u1 u2 u3")...)
			return nil
		}),
		host.WrapFunc("twice", func(ctx context.Context, sc *host.SessionContext, next host.Next) error {
			if err := next(ctx); err != nil {
				return err
			}
			sc.ExtendMessages(talk("u4")...)
			return next(ctx)
		}),
		host.BeforeRunFunc("spy", func(_ context.Context, sc *host.SessionContext) error {
			tries = append(tries, words(sc.Messages(host.Filter{})))
			return nil
		}),
		compaction.NewProvider(compaction.Config{Before: compaction.SlidingWindow{KeepLastGroups: 2}}),
	)
	_, err := a.Run(t.Context(), talk("u9"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, []string{"u1 u2 u3", "u1 u2 u3 u4"}, tries)
	require.Equal(t, []string{"u2 u3 u9", "u3 u4 u9"}, model.sent)
}

// broken strategies end the run with an error that names the provider.
type brokenStrategy struct{ out []*message.Message }

func (b brokenStrategy) Compact(context.Context, []*message.Message, *message.Message) ([]*message.Message, error) {
	if b.out == nil {
		return nil, errors.New("boom")
	}
	return b.out, nil
}

func TestAStrategyThatFails(t *testing.T) {
	session := host.NewSession("")
	for _, c := range []struct {
		config compaction.Config
		want   string
	}{
		{compaction.Config{Before: brokenStrategy{}}, "compaction before the run: boom"},
		{compaction.Config{Before: brokenStrategy{[]*message.Message{nil}}}, "returned a message that is nil"},
		{compaction.Config{After: brokenStrategy{}}, "compaction of what in_memory stored: boom"},
	} {
		a := agent(t, &listener{}, compaction.NewProvider(c.config), host.NewInMemoryHistory(host.HistoryConfig{}))
		_, err := a.Run(t.Context(), talk("u1"), host.RunConfig{Session: session})
		require.ErrorContains(t, err, c.want)
	}
	require.Equal(t, "u1 a1", shown(stored(t, session)), "only the last run came to storing")
}
