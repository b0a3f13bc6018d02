package host_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// listener logs each hook of the loop, and does what its functions say.
type listener struct {
	host.BaseHooks
	id       string
	log      *[]string
	policy   host.ErrorPolicy
	onBefore func(it *host.Iteration) error
	onTools  func(it *host.Iteration) error
	onCall   func(call *host.Invocation) error
	onResult func(call *host.Invocation) error
	onAfter  func(it *host.Iteration) error
}

var (
	_ host.Hooks    = (*listener)(nil)
	_ host.Provider = (*listener)(nil)
)

func (l *listener) SourceID() string              { return l.id }
func (l *listener) ErrorPolicy() host.ErrorPolicy { return l.policy }

func (l *listener) say(format string, args ...any) {
	*l.log = append(*l.log, fmt.Sprintf(format, args...)+" "+l.id)
}

func (l *listener) BeforeIteration(_ context.Context, sc *host.SessionContext, it *host.Iteration) error {
	var n int
	_, err := sc.State().Get("n", &n)
	l.say("before_iteration %d, state %d", it.Number, n)
	if l.onBefore != nil {
		err = l.onBefore(it)
	}
	return err
}

func (l *listener) BeforeTools(_ context.Context, sc *host.SessionContext, it *host.Iteration) error {
	l.say("before_tools %d", len(it.Calls))
	if err := sc.State().Set("n", it.Number); err != nil || l.onTools == nil {
		return err
	}
	return l.onTools(it)
}

func (l *listener) BeforeFunction(_ context.Context, _ *host.SessionContext, call *host.Invocation) error {
	l.say("before_function %s", call.Call.Name)
	if l.onCall != nil {
		return l.onCall(call)
	}
	return nil
}

func (l *listener) AfterFunction(_ context.Context, _ *host.SessionContext, call *host.Invocation) error {
	l.say("after_function %s %s", call.Call.Name, call.Result.Result)
	if l.onResult != nil {
		return l.onResult(call)
	}
	return nil
}

func (l *listener) AfterIteration(_ context.Context, _ *host.SessionContext, it *host.Iteration) error {
	l.say("after_iteration %d, %d results", it.Number, len(it.Results))
	if l.onAfter != nil {
		return l.onAfter(it)
	}
	return nil
}

func listening(t *testing.T, model host.ChatClient, listeners ...*listener) *host.Agent {
	c := host.AgentConfig{Client: model, Tools: []host.Tool{saying("t"), saying("u")}}
	for _, l := range listeners {
		c.Providers = append(c.Providers, l)
	}
	return newAgent(t, c)
}

func TestLoopHooksRunInOrderAndInReverse(t *testing.T) {
	var log []string
	agent := listening(t, &script{replies: []*host.Response{calls("t", "nosuch")}}, &listener{id: "a", log: &log}, &listener{id: "b", log: &log})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: agent.CreateSession("")})
	require.NoError(t, err)
	require.Equal(t, []string{
		"before_iteration 1, state 0 a", "before_iteration 1, state 0 b",
		"before_tools 2 a", "before_tools 2 b",
		"before_function t a", "before_function t b",
		`after_function t "t-ok" b`, `after_function t "t-ok" a`,
		`after_function nosuch "Error: Requested function \"nosuch\" not found." b`,
		`after_function nosuch "Error: Requested function \"nosuch\" not found." a`,
		"after_iteration 1, 2 results b", "after_iteration 1, 2 results a",
		"before_iteration 2, state 1 a", "before_iteration 2, state 1 b",
		"after_iteration 2, 0 results b", "after_iteration 2, 0 results a",
	}, log, "state that a hook writes is there for the next")
}

// Whatever hooks do, the stream shows the same as the run returns.
func TestHooksThatStandInForModelAndTools(t *testing.T) {
	for name, c := range map[string]struct {
		first, last *listener
		want        []string // the texts and results of the response in order
		requests    int
		log         string
	}{
		"skip the model call, last writer wins": {
			first:    &listener{onBefore: func(it *host.Iteration) error { it.Skip(host.NewResponse("first")); return nil }},
			last:     &listener{onBefore: func(it *host.Iteration) error { it.Skip(host.NewResponse(it.Skipped().Text() + " last")); return nil }},
			want:     []string{"first last"},
			requests: 0,
		},
		"calls of a reply that was given are answered": {
			first: &listener{onBefore: func(it *host.Iteration) error {
				if it.Number == 1 {
					it.Skip(calls("u"))
				}
				return nil
			}},
			want: []string{"u-ok", "ok"}, requests: 1,
		},
		"skip all tools": {
			first:    &listener{onTools: func(it *host.Iteration) error { it.Skip(host.NewResponse("no tools today")); return nil }},
			want:     []string{"Error: Tool call was skipped.", "Error: Tool call was skipped.", "no tools today"},
			requests: 1,
		},
		"block one call": {
			first: &listener{onCall: func(call *host.Invocation) error {
				if call.Call.Name == "t" {
					call.BlockText("blocked")
				}
				return nil
			}},
			want: []string{"blocked", "u-ok", "ok"}, requests: 2,
		},
		"rewrite a result": {
			first: &listener{onResult: func(call *host.Invocation) error {
				call.Result.Result = jsontext.Value(`"rewritten"`)
				return nil
			}},
			want: []string{"rewritten", "rewritten", "ok"}, requests: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var log []string
			listeners := []*listener{c.first}
			if c.last != nil {
				listeners = append(listeners, c.last)
			}
			for i, l := range listeners {
				l.id, l.log = fmt.Sprint("l", i), &log
			}
			run := func() (*script, *host.Agent) {
				model := &script{replies: []*host.Response{calls("t", "u"), host.NewResponse("ok"), host.NewResponse("ok")}}
				if name == "calls of a reply that was given are answered" {
					model.replies = model.replies[1:]
				}
				return model, listening(t, model, listeners...)
			}
			model, agent := run()
			r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
			require.NoError(t, err)
			got := results(r)
			if text := r.Text(); text != "" {
				got = append(got, text)
			}
			require.Equal(t, c.want, got)
			require.Len(t, model.requests, c.requests)

			_, agent = run()
			stream := agent.Stream(t.Context(), host.Text("hi"), host.RunConfig{})
			var shown []message.Content
			for u, err := range stream.Updates() {
				require.NoError(t, err)
				shown = append(shown, u.Contents...)
			}
			streamed, err := stream.Response()
			require.NoError(t, err)
			require.Equal(t, r, streamed)
			var whole []message.Content
			for _, m := range r.Messages {
				whole = append(whole, m.Contents...)
			}
			require.Equal(t, whole, shown)
		})
	}
}

func TestErrorsOfLoopHooks(t *testing.T) {
	broken := errors.New("broken")
	t.Run("a before-hook ends the run", func(t *testing.T) {
		var log []string
		model := &script{}
		_, err := listening(t, model, &listener{id: "a", log: &log, onBefore: func(*host.Iteration) error { return broken }}).
			Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.ErrorIs(t, err, broken)
		require.ErrorContains(t, err, "provider a: before_iteration")
		require.Empty(t, model.requests)
	})
	t.Run("on_error skip goes on", func(t *testing.T) {
		var log []string
		r, err := listening(t, &script{}, &listener{id: "a", log: &log, policy: host.OnErrorSkip, onBefore: func(*host.Iteration) error { return broken }}).
			Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.NoError(t, err)
		require.Equal(t, "done", r.Text())
	})
	t.Run("every after-hook runs, and the response is not lost", func(t *testing.T) {
		var log []string
		agent := listening(t, &script{},
			&listener{id: "a", log: &log, onAfter: func(*host.Iteration) error { return errors.New("a broke") }},
			&listener{id: "b", log: &log, onAfter: func(*host.Iteration) error { return errors.New("b broke") }})
		r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.ErrorContains(t, err, "a broke")
		require.ErrorContains(t, err, "b broke")
		require.Equal(t, "done", r.Text())
	})
	t.Run("a provider that was skipped hears no more", func(t *testing.T) {
		var log []string
		p := &failingListener{listener{id: "a", log: &log, policy: host.OnErrorSkip}}
		_, err := newAgent(t, host.AgentConfig{Providers: []host.Provider{p}}).Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.NoError(t, err)
		require.Empty(t, log)
	})
}

type failingListener struct{ listener }

func (*failingListener) BeforeRun(context.Context, *host.SessionContext) error {
	return errors.New("not today")
}

func TestCallsThatNobodyWillAnswerAreDroppedFromRepliesOfHooks(t *testing.T) {
	var log []string
	withText := func() *host.Response {
		r := calls("t")
		r.Messages[0].Contents = append([]message.Content{message.Text{Text: "mine"}}, r.Messages[0].Contents...)
		return r
	}
	none := host.RunConfig{Options: host.Options{ToolChoice: host.ToolChoice{Mode: host.ToolChoiceNone}}}
	for name, c := range map[string]struct {
		listener *listener
		config   host.RunConfig
		model    *script
	}{
		"in before_iteration with tool_choice none": {
			&listener{id: "a", log: &log, onBefore: func(it *host.Iteration) error { it.Skip(withText()); return nil }}, none, &script{},
		},
		"in before_tools": {
			&listener{id: "a", log: &log, onTools: func(it *host.Iteration) error { it.Skip(withText()); return nil }},
			host.RunConfig{},
			&script{replies: []*host.Response{calls("u")}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := listening(t, c.model, c.listener).Run(t.Context(), host.Text("hi"), c.config)
			require.NoError(t, err)
			require.Equal(t, "mine", r.Text())
			for _, m := range r.Messages {
				for _, content := range m.Contents {
					if call, ok := content.(message.FunctionCall); ok {
						require.NotEqual(t, "t", call.Name)
					}
				}
			}
		})
	}
}

// A hook that appends to what it is shown writes into no list that the run goes on with.
func TestHooksCannotWriteBehindTheRequest(t *testing.T) {
	var log []string
	model := &script{replies: []*host.Response{calls("t")}}
	grabbed := &listener{id: "a", log: &log, onTools: func(it *host.Iteration) error {
		_ = append(it.Request.Messages, message.User("planted"))
		_ = append(it.SoFar.Messages, message.User("planted"))
		return nil
	}}
	grabbed.onCall = func(*host.Invocation) error { return nil }
	grabbed.onAfter = func(it *host.Iteration) error {
		it.Request.Messages = append(it.Request.Messages, message.User("planted"))
		return nil
	}
	agent := listening(t, model, grabbed)
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	for _, m := range model.requests[1].Messages {
		require.NotEqual(t, "planted", m.Text())
	}
}
