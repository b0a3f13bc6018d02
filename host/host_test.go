package host_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo is a model that answers with what it was sent, so that a test sees it in the response. Its stream is one update
// per word.
type echo struct {
	mu       sync.Mutex
	requests []*host.ChatRequest
	fail     error
}

func (e *echo) answer(r *host.ChatRequest) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.requests = append(e.requests, r)
	var parts []string
	if r.Instructions != "" {
		parts = append(parts, "("+strings.ReplaceAll(r.Instructions, "\n", "|")+")")
	}
	for _, m := range r.Messages {
		parts = append(parts, m.Text())
	}
	return strings.Join(parts, " "), e.fail
}

func (e *echo) Complete(_ context.Context, r *host.ChatRequest) (*host.Response, error) {
	text, err := e.answer(r)
	if err != nil {
		return nil, err
	}
	return host.NewResponse(text), nil
}

func (e *echo) Stream(ctx context.Context, r *host.ChatRequest) iter.Seq2[*host.Update, error] {
	return func(yield func(*host.Update, error) bool) {
		text, err := e.answer(r)
		for _, word := range strings.SplitAfter(text, " ") {
			if ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			if !yield(host.TextUpdate(word), nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
			return
		}
		yield(&host.Update{FinishReason: host.FinishStop}, nil)
	}
}

func newAgent(t *testing.T, c host.AgentConfig) *host.Agent {
	t.Helper()
	if c.Client == nil {
		c.Client = &echo{}
	}
	agent, err := host.NewAgent(c)
	require.NoError(t, err)
	return agent
}

// recorder is a provider that tells a log of its hooks.
type recorder struct {
	id     string
	log    *[]string
	before func(sc *host.SessionContext) error
	after  func(sc *host.SessionContext) error
	policy host.ErrorPolicy
}

func (r *recorder) SourceID() string              { return r.id }
func (r *recorder) ErrorPolicy() host.ErrorPolicy { return r.policy }

func (r *recorder) BeforeRun(_ context.Context, sc *host.SessionContext) error {
	*r.log = append(*r.log, "before "+r.id)
	if r.before != nil {
		return r.before(sc)
	}
	return nil
}

func (r *recorder) AfterRun(_ context.Context, sc *host.SessionContext) error {
	*r.log = append(*r.log, "after "+r.id)
	if r.after != nil {
		return r.after(sc)
	}
	return nil
}

func (r *recorder) RunFailed(_ context.Context, _ *host.SessionContext, cause error) error {
	*r.log = append(*r.log, "failed "+r.id+": "+cause.Error())
	return nil
}

func logger() (*slog.Logger, *bytes.Buffer) {
	var b bytes.Buffer
	return slog.New(slog.NewTextHandler(&b, nil)), &b
}

func TestNewAgentReportsAllFaultsAtOnce(t *testing.T) {
	_, err := host.NewAgent(host.AgentConfig{
		Name:           "bad",
		DefaultHistory: "sometimes",
		Providers: []host.Provider{
			host.BeforeRunFunc("a", nil), host.BeforeRunFunc("a", nil), host.BeforeRunFunc("", nil), nil, noHooks{},
		},
		Tools: []host.Tool{&tool{"t"}, &tool{"t"}, &tool{"has space"}, &tool{}},
	})
	for _, part := range []string{
		"needs a chat client", `"sometimes" is not one of when_empty`, `duplicate source_id "a"`, "empty source_id",
		"provider is nil", "implements no hook", `duplicate tool "t"`,
		`tools/2: tool name: "has space": model APIs take`, `tools/3: tool name: a tool needs a name`,
	} {
		require.ErrorContains(t, err, part)
	}
}

type noHooks struct{}

func (noHooks) SourceID() string { return "none" }

type tool struct{ name string }

func (t *tool) Definition() host.ToolDefinition { return host.ToolDefinition{Name: t.name} }

func TestInputIsCheckedBeforeAnythingRuns(t *testing.T) {
	var log []string
	agent := newAgent(t, host.AgentConfig{Providers: []host.Provider{&recorder{id: "a", log: &log}}})
	_, err := agent.Run(t.Context(), []*message.Message{nil}, host.RunConfig{})
	require.ErrorContains(t, err, "input/0: a message is nil")
	_, err = agent.Run(t.Context(), []*message.Message{message.New("root")}, host.RunConfig{})
	require.ErrorContains(t, err, `role "root" is not one of`)
	require.Empty(t, log)
}

func TestRunProvidersStandLastAndForOneRunOnly(t *testing.T) {
	var log []string
	agent := newAgent(t, host.AgentConfig{Providers: []host.Provider{&recorder{id: "a", log: &log}}})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Providers: []host.Provider{&recorder{id: "b", log: &log}}})
	require.NoError(t, err)
	require.Equal(t, []string{"before a", "before b", "after b", "after a"}, log)

	log = nil
	_, err = agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, []string{"before a", "after a"}, log)

	_, err = agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Providers: []host.Provider{&recorder{id: "a", log: &log}}})
	require.ErrorContains(t, err, `duplicate source_id "a"`)
}

func TestOneHookFunctions(t *testing.T) {
	var seen string
	agent := newAgent(t, host.AgentConfig{Providers: []host.Provider{
		host.BeforeRunFunc("now", func(_ context.Context, sc *host.SessionContext) error {
			sc.ExtendMessages(message.User("context"))
			return nil
		}),
		host.AfterRunFunc("spy", func(_ context.Context, sc *host.SessionContext) error {
			seen = sc.Response().Text()
			return nil
		}),
	}})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, "context hi", seen)
}

func TestPerSessionMakesOneProviderPerSession(t *testing.T) {
	made := 0
	agent := newAgent(t, host.AgentConfig{Providers: []host.Provider{
		host.PerSession("counter", func(context.Context, *host.Session) (host.Provider, error) {
			made++
			calls := 0
			return host.BeforeRunFunc("counter", func(_ context.Context, sc *host.SessionContext) error {
				calls++
				sc.ExtendMessages(message.User(strings.Repeat("x", calls)))
				return nil
			}), nil
		}),
	}})
	first, second := agent.CreateSession("1"), agent.CreateSession("2")
	for _, want := range []struct {
		session *host.Session
		text    string
	}{{first, "x hi"}, {first, "xx hi"}, {second, "x hi"}} {
		r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: want.session})
		require.NoError(t, err)
		require.Equal(t, want.text, r.Text())
	}
	require.Equal(t, 2, made)

	liar := newAgent(t, host.AgentConfig{Providers: []host.Provider{
		host.PerSession("a", func(context.Context, *host.Session) (host.Provider, error) {
			return host.BeforeRunFunc("b", nil), nil
		}),
	}})
	_, err := liar.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.ErrorContains(t, err, `source_id "b"`)
}

func TestAfterRunErrorsComeWithTheResponse(t *testing.T) {
	var log []string
	boom := func(*host.SessionContext) error { return errors.New("boom") }
	agent := newAgent(t, host.AgentConfig{Providers: []host.Provider{
		&recorder{id: "a", log: &log, after: boom}, &recorder{id: "b", log: &log, after: boom},
	}})
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.Equal(t, "hi", r.Text())
	require.ErrorContains(t, err, "provider a: after_run: boom")
	require.ErrorContains(t, err, "provider b: after_run: boom")
	var hook *host.HookError
	require.ErrorAs(t, err, &hook)
}

func TestOnErrorSkipGoesOnWithoutTheProvider(t *testing.T) {
	var log []string
	slogger, warnings := logger()
	agent := newAgent(t, host.AgentConfig{Logger: slogger, Providers: []host.Provider{
		&recorder{id: "a", log: &log},
		&recorder{id: "bad", log: &log, policy: host.OnErrorSkip, before: func(sc *host.SessionContext) error {
			sc.ExtendMessages(message.User("half"))
			sc.ExtendInstructions("half")
			return errors.New("boom")
		}},
	}})
	var traced []host.HookTrace
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{
		Tracer: host.TraceFunc(func(_ context.Context, h host.HookTrace) { traced = append(traced, h) }),
	})
	require.NoError(t, err)
	require.Equal(t, "hi", r.Text(), "what the failing hook had added is taken back")
	require.Equal(t, []string{"before a", "before bad", "after a"}, log)
	require.Contains(t, warnings.String(), "boom")
	require.True(t, traced[1].Skipped)
}

func TestPanicsBecomeErrors(t *testing.T) {
	var log []string
	agent := newAgent(t, host.AgentConfig{Providers: []host.Provider{
		&recorder{id: "a", log: &log},
		host.BeforeRunFunc("p", func(context.Context, *host.SessionContext) error { panic("ouch") }),
	}})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	var p *host.PanicError
	require.ErrorAs(t, err, &p)
	require.Equal(t, "ouch", p.Value)
	require.Equal(t, []string{"before a", "failed a: provider p: before_run: panic: ouch"}, log)
}

func TestOptionsAreMergedKeyByKey(t *testing.T) {
	model := &echo{}
	agent := newAgent(t, host.AgentConfig{
		Client: model, Instructions: "base",
		Options: host.Options{Temperature: new(0.5), MaxTokens: new(10), Instructions: "more"},
	})
	run, err := host.ParseOptions([]byte(`{"temperature":1,"instructions":"run","custom":{"n":1.50}}`))
	require.NoError(t, err)
	_, err = agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Options: run})
	require.NoError(t, err)
	request := model.requests[0]
	require.Equal(t, "base\nmore\nrun", request.Instructions)
	options, err := request.Options.JSON()
	require.NoError(t, err)
	require.JSONEq(t, `{"temperature":1,"max_tokens":10,"custom":{"n":1.50}}`, string(options))
	require.Contains(t, string(options), "1.50", "numbers keep their digits")

	_, err = host.ParseOptions([]byte(`{"temperature":"hot"}`))
	require.ErrorContains(t, err, "temperature")
}

func TestToolsAreMerged(t *testing.T) {
	model, shared := &echo{}, &tool{"shared"}
	agent := newAgent(t, host.AgentConfig{
		Client: model, Tools: []host.Tool{shared},
		Providers: []host.Provider{host.BeforeRunFunc("p", func(_ context.Context, sc *host.SessionContext) error {
			sc.ExtendTools(shared, &tool{"own"})
			return nil
		})},
	})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Tools: []host.Tool{&tool{"run"}}})
	require.NoError(t, err)
	var names []string
	for _, offered := range model.requests[0].Tools {
		names = append(names, offered.Definition().Name+"@"+offered.SourceID)
	}
	require.Equal(t, []string{"shared@", "own@p", "run@"}, names)

	_, err = agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Tools: []host.Tool{&tool{"own"}}})
	require.ErrorContains(t, err, `duplicate tool "own": source p and the run both have one`)
	require.Len(t, model.requests, 1, "the model was not called")
}

func TestFilteredReading(t *testing.T) {
	read := func(sc *host.SessionContext, f host.Filter) string { return message.JoinText(sc.Messages(f)) }
	add := func(id string) host.Provider {
		return host.BeforeRunFunc(id, func(_ context.Context, sc *host.SessionContext) error {
			sc.ExtendMessages(message.User(id))
			return nil
		})
	}
	agent := newAgent(t, host.AgentConfig{Providers: []host.Provider{
		host.AfterRunFunc("spy", func(_ context.Context, sc *host.SessionContext) error {
			require.Equal(t, "ab", read(sc, host.Filter{}))
			require.Equal(t, "b", read(sc, host.Filter{Sources: []string{"b"}}))
			require.Equal(t, "", read(sc, host.Filter{Sources: []string{}}))
			require.Equal(t, "a", read(sc, host.Filter{Exclude: []string{"b"}}))
			require.Equal(t, "abhia b hi", read(sc, host.Filter{Input: true, Response: true}))
			return nil
		}), add("a"), add("b"),
	}})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
}

func TestAddedMessagesAreCopiesWithTheirSource(t *testing.T) {
	model, mine := &echo{}, message.User("mine")
	stored := &message.Message{Role: message.RoleUser, SourceID: "rag", Contents: []message.Content{message.Text{Text: "old"}}}
	agent := newAgent(t, host.AgentConfig{Client: model, Providers: []host.Provider{
		host.BeforeRunFunc("p", func(_ context.Context, sc *host.SessionContext) error {
			sc.ExtendMessages(mine, stored)
			mine.Contents[0] = message.Text{Text: "changed"}
			return nil
		}),
	}})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	sent := model.requests[0].Messages
	require.Equal(t, "mine", sent[0].Text())
	require.Equal(t, "p", sent[0].SourceID)
	require.Equal(t, "func", sent[0].SourceType)
	require.Equal(t, "rag", sent[1].SourceID, "a message keeps the source that it has")
	require.Empty(t, mine.SourceID, "the provider's own message is left alone")
}

// A hook that fails leaves nothing behind, as a plugin's effects come all together or not at all.
func TestFailingHookLeavesNothingBehind(t *testing.T) {
	var seen string
	var topic string
	var has bool
	spy := &failedSpy{id: "spy", failed: func(sc *host.SessionContext) error {
		seen = message.JoinText(sc.Messages(host.Filter{}))
		var err error
		has, err = sc.Metadata("topic", &topic)
		return err
	}}
	agent := newAgent(t, host.AgentConfig{Providers: []host.Provider{
		spy,
		host.BeforeRunFunc("good", func(_ context.Context, sc *host.SessionContext) error {
			sc.ExtendMessages(message.User("kept"))
			return sc.SetMetadata("topic", "before")
		}),
		host.BeforeRunFunc("bad", func(_ context.Context, sc *host.SessionContext) error {
			sc.ExtendMessages(message.User("half"))
			if err := sc.SetMetadata("topic", "half"); err != nil {
				return err
			}
			return errors.New("boom")
		}),
	}})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.ErrorContains(t, err, "boom")
	require.Equal(t, "kept", seen)
	require.True(t, has)
	require.Equal(t, "before", topic)
}

var errDown = errors.New("down")

type failedSpy struct {
	id     string
	failed func(sc *host.SessionContext) error
}

func (s *failedSpy) SourceID() string { return s.id }

func (s *failedSpy) BeforeRun(context.Context, *host.SessionContext) error { return nil }

func (s *failedSpy) RunFailed(_ context.Context, sc *host.SessionContext, _ error) error {
	return s.failed(sc)
}

// Between two calls of one run the service may have named a conversation.
func TestSecondTryUsesTheConversationOfTheFirst(t *testing.T) {
	model := &naming{}
	agent := newAgent(t, host.AgentConfig{Client: model, Providers: []host.Provider{
		host.WrapFunc("twice", func(ctx context.Context, _ *host.SessionContext, next host.Next) error {
			if err := next(ctx); err != nil {
				return err
			}
			return next(ctx)
		}),
	}})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: agent.CreateSession("")})
	require.NoError(t, err)
	require.Empty(t, model.requests[0].ConversationID)
	require.Equal(t, "c1", model.requests[1].ConversationID)

	model.requests = nil
	_, err = agent.Run(t.Context(), host.Text("hi"), host.RunConfig{
		Session: agent.CreateSession(""), Options: host.Options{ConversationID: "mine"},
	})
	require.NoError(t, err)
	require.Equal(t, "mine", model.requests[1].ConversationID, "the run's own option goes before")
}

// naming is a model whose service names the conversation.
type naming struct{ echo }

func (n *naming) Complete(ctx context.Context, r *host.ChatRequest) (*host.Response, error) {
	response, err := n.echo.Complete(ctx, r)
	response.ConversationID = "c1"
	return response, err
}
