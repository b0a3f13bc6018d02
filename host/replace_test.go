package host_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

func adds(sourceID string, texts ...string) host.Provider {
	return host.BeforeRunFunc(sourceID, func(_ context.Context, sc *host.SessionContext) error {
		for _, text := range texts {
			sc.ExtendMessages(message.User(text))
		}
		return nil
	})
}

func TestReplaceMessages(t *testing.T) {
	line := message.Assistant("line")
	for _, c := range []struct {
		name    string
		replace func(m []*message.Message) []*message.Message
		want    []string // of source a, of source b
	}{
		{"nothing", func(m []*message.Message) []*message.Message { return m }, []string{"a1a2", "b1b2"}},
		{"some go", func(m []*message.Message) []*message.Message { return m[1:3] }, []string{"a2", "b1"}},
		{"a whole source goes", func(m []*message.Message) []*message.Message { return m[2:] }, []string{"", "b1b2"}},
		{"all go", func([]*message.Message) []*message.Message { return nil }, []string{"", ""}},
		{"a line for the first", func(m []*message.Message) []*message.Message {
			return []*message.Message{line, m[1], m[2], m[3]}
		}, []string{"linea2", "b1b2"}},
		{"a line for what ends a source", func(m []*message.Message) []*message.Message {
			return []*message.Message{m[0], line, m[2], m[3]}
		}, []string{"a1line", "b1b2"}},
		{"a line behind all", func(m []*message.Message) []*message.Message {
			return append(m, line)
		}, []string{"a1a2", "b1b2line"}},
		{"a line for all", func([]*message.Message) []*message.Message { return []*message.Message{line} }, []string{"line", ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			model := &echo{}
			agent := newAgent(t, host.AgentConfig{Client: model, Providers: []host.Provider{
				adds("a", "a1", "a2"), adds("b", "b1", "b2"),
				host.BeforeRunFunc("thin", func(_ context.Context, sc *host.SessionContext) error {
					sc.ReplaceMessages(c.replace(sc.Messages(host.Filter{}))...)
					for i, source := range []string{"a", "b"} {
						require.Equal(t, c.want[i], message.JoinText(sc.Messages(host.Filter{Sources: []string{source}})))
					}
					return nil
				}),
			}})
			_, err := agent.Run(t.Context(), nil, host.RunConfig{})
			require.NoError(t, err)
			for _, m := range model.requests[0].Messages {
				if m.Text() == "line" {
					require.Equal(t, "thin", m.SourceID)
					require.NotSame(t, line, m)
				}
			}
			require.Empty(t, line.SourceID)
		})
	}
}

func TestFailingHookReplacesNothing(t *testing.T) {
	var seen string
	agent := newAgent(t, host.AgentConfig{Providers: []host.Provider{
		&failedSpy{id: "spy", failed: func(sc *host.SessionContext) error {
			seen = message.JoinText(sc.Messages(host.Filter{}))
			return nil
		}},
		adds("a", "a1", "a2"),
		host.BeforeRunFunc("thin", func(_ context.Context, sc *host.SessionContext) error {
			sc.ExtendMessages(message.User("mine"))
			sc.ReplaceMessages()
			sc.ExtendMessages(message.User("more"))
			return errors.New("boom")
		}),
	}})
	_, err := agent.Run(t.Context(), nil, host.RunConfig{})
	require.ErrorContains(t, err, "boom")
	require.Equal(t, "a1a2", seen)
}

// Any store can hold messages that are marked.
func TestSkipExcludedOfAnyStore(t *testing.T) {
	store := &listStore{kept: map[string][]*message.Message{}}
	session := host.NewSession("s")
	require.NoError(t, store.SaveMessages(t.Context(), "s", nil, []*message.Message{
		message.User("old").WithExcluded(true), message.User("new"),
	}))
	for _, c := range []struct {
		skip bool
		want string
	}{{true, "newhi"}, {false, "oldnewhi"}} {
		model := &echo{}
		agent := newAgent(t, host.AgentConfig{Client: model, Providers: []host.Provider{
			host.NewHistory(store, host.HistoryConfig{SourceID: "store", SkipInputs: true, SkipOutputs: true, SkipExcluded: c.skip}),
		}})
		_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
		require.NoError(t, err)
		require.Equal(t, c.want, message.JoinText(model.requests[0].Messages))
	}
}
