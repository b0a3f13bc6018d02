package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/compaction"
	"github.com/weft-run/weft/message"
)

// marking is a model that calls the tool of the run with the text of the last user message, and then repeats the result.
type marking struct{}

func (m *marking) Complete(_ context.Context, r *host.ChatRequest) (*host.Response, error) {
	if last := r.Messages[len(r.Messages)-1]; last.Role == message.RoleTool {
		return host.NewResponse(string(last.Contents[0].(message.FunctionResult).Result)), nil
	}
	var text string
	for _, m := range r.Messages {
		if m.Role == message.RoleUser && m.SourceID == "" {
			text = m.Text()
		}
	}
	if got := fmt.Sprint(r.Options.Extra["mark"]); got != fmt.Sprintf("%q", text) {
		return nil, fmt.Errorf("options of %s saw %s", text, got)
	}
	return callWith("1", "t_"+text, fmt.Sprintf(`{"mark":%q}`, text)), nil
}

func (m *marking) Stream(ctx context.Context, r *host.ChatRequest) iter.Seq2[*host.Update, error] {
	return func(yield func(*host.Update, error) bool) {
		response, err := m.Complete(ctx, r)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, m := range response.Messages {
			if !yield(&host.Update{Role: m.Role, Contents: m.Contents}, nil) {
				return
			}
		}
	}
}

// returning is a tool that returns its arguments, and tells them.
type returning struct{ name string }

func (r returning) Definition() host.ToolDefinition {
	return host.ToolDefinition{Name: r.name, Parameters: schemaOf(`{"type":"object","required":["mark"]}`)}
}

func (returning) Call(ctx context.Context, arguments jsontext.Value) (jsontext.Value, error) {
	return arguments, host.Emit(ctx, "called", string(arguments))
}

// marked is a provider and a tool source that look for marks of other sessions wherever they are shown something.
type marked struct{ host.BaseHooks }

func (marked) SourceID() string { return "marked" }

// look reports a mark other than the session's own in anything that can be printed.
func look(own *host.Session, where string, seen any) error {
	raw, err := json.Marshal(seen)
	if err != nil {
		return err
	}
	for text := string(raw); ; {
		at := strings.Index(text, "mark-")
		if at < 0 {
			return nil
		}
		if mark := text[at : at+len("mark-00")]; mark != own.ID() {
			return host.Fatal(fmt.Errorf("%s of %s saw %s", where, own.ID(), mark))
		}
		text = text[at+1:]
	}
}

func (marked) BeforeRun(_ context.Context, sc *host.SessionContext) error {
	sc.ExtendInstructions(sc.Session().ID())
	sc.ExtendMessages(message.System("of " + sc.Session().ID()))
	var n int
	if _, err := sc.State().Get("n", &n); err != nil {
		return err
	}
	if err := sc.State().Set("n", n+1); err != nil {
		return err
	}
	if err := sc.State().Set("mark", sc.Session().ID()); err != nil {
		return err
	}
	return sc.ExtendMiddleware(host.Middleware{Chat: []host.ChatMiddleware{host.ChatFunc(
		func(ctx context.Context, c *host.ChatContext, next host.Next) error {
			if err := look(c.Session, "provider's chat middleware", c.Request.Instructions); err != nil {
				return err
			}
			return next(ctx)
		})}})
}

func (marked) AfterRun(_ context.Context, sc *host.SessionContext) error {
	state, err := sc.State().Raw()
	if err != nil {
		return err
	}
	return look(sc.Session(), "state", json.RawMessage(state))
}

func (marked) BeforeIteration(_ context.Context, sc *host.SessionContext, it *host.Iteration) error {
	return look(sc.Session(), "before_iteration", []any{it.Request.Instructions, message.JoinText(it.Request.Messages), it.SoFar})
}

func (marked) BeforeTools(_ context.Context, sc *host.SessionContext, it *host.Iteration) error {
	return look(sc.Session(), "before_tools", it.Calls)
}

func (marked) BeforeFunction(_ context.Context, sc *host.SessionContext, call *host.Invocation) error {
	return look(sc.Session(), "before_function", string(call.Call.Arguments))
}

func (marked) AfterFunction(_ context.Context, sc *host.SessionContext, call *host.Invocation) error {
	return look(sc.Session(), "after_function", string(call.Result.Result))
}

func (marked) AfterIteration(_ context.Context, sc *host.SessionContext, it *host.Iteration) error {
	return look(sc.Session(), "after_iteration", it.Reply.Text())
}

var _ host.Hooks = marked{}

// markedMiddleware looks at all layers.
func markedMiddleware() host.Middleware {
	return host.Middleware{
		Agent: []host.AgentMiddleware{host.AgentFunc(func(ctx context.Context, c *host.AgentContext, next host.Next) error {
			c.OnStream(host.StreamHooks{Update: func(u *host.Update, emit func(*host.Update) error) error {
				if err := look(c.Session, "stream", u.Text()); err != nil {
					return err
				}
				return emit(u)
			}})
			if err := look(c.Session, "agent middleware", message.JoinText(c.Messages)); err != nil {
				return err
			}
			return next(ctx)
		})},
		Chat: []host.ChatMiddleware{host.ChatFunc(func(ctx context.Context, c *host.ChatContext, next host.Next) error {
			var names []string
			for _, tool := range c.Request.Tools {
				names = append(names, strings.TrimPrefix(tool.Definition().Name, "t_"))
			}
			if err := look(c.Session, "chat middleware", []any{c.Request.Instructions, names, message.JoinText(c.Request.Messages)}); err != nil {
				return err
			}
			return next(ctx)
		})},
		Function: []host.FunctionMiddleware{host.FunctionFunc(func(ctx context.Context, c *host.FunctionContext, next host.Next) error {
			if err := look(c.Session, "function middleware", string(c.Arguments)); err != nil {
				return err
			}
			return next(ctx)
		})},
	}
}

// Many goroutines on one agent with everything on, each with a mark of its own in its session, options, tools and state:
// no run ever sees another's.
func TestRunsWithEverythingOnNeverSeeEachOther(t *testing.T) {
	agent := newAgent(t, host.AgentConfig{
		Client: &marking{}, DefaultHistory: host.HistoryWhenMissing, Middleware: markedMiddleware(),
		Providers:  []host.Provider{marked{}},
		Compaction: compaction.SlidingWindow{KeepLastGroups: 6},
		ApprovalPolicy: func(_ context.Context, s *host.Session, _ host.OfferedTool, call message.FunctionCall) (host.Approval, error) {
			return host.ApprovalAllow, look(s, "policy", string(call.Arguments))
		},
		Tracer: host.TraceFunc(func(context.Context, host.HookTrace) {}),
	})
	var wg sync.WaitGroup
	for g := range 64 {
		wg.Go(func() {
			session := agent.CreateSession(fmt.Sprintf("mark-%02d", g))
			for i := range 10 {
				events := 0
				var mu sync.Mutex
				c := host.RunConfig{
					Session: session, Tools: []host.Tool{returning{"t_" + session.ID()}},
					Options: host.Options{Extra: map[string]jsontext.Value{"mark": jsontext.Value(fmt.Sprintf("%q", session.ID()))}},
					OnEvent: func(_ context.Context, e *host.Event) {
						mu.Lock()
						defer mu.Unlock()
						if err := look(session, "event", string(e.Data)); err != nil {
							t.Error(err)
						}
						events++
					},
					Tracer: host.TraceFunc(func(_ context.Context, h host.HookTrace) {
						if h.SessionID != session.ID() {
							t.Errorf("the tracer of %s heard of %s", session.ID(), h.SessionID)
						}
					}),
				}
				var r *host.Response
				var err error
				if i%2 == 0 {
					r, err = agent.Run(context.Background(), host.Text(session.ID()), c)
				} else {
					r, err = agent.Stream(context.Background(), host.Text(session.ID()), c).Response()
				}
				if err != nil {
					t.Error(err)
					return
				}
				if want := fmt.Sprintf(`{"mark":%q}`, session.ID()); r.Text() != want || events != 1 {
					t.Errorf("%s got %s and %d events", want, r.Text(), events)
					return
				}
			}
			var n int
			_, err := session.State("marked").Get("n", &n)
			if err != nil || n != 10 {
				t.Errorf("%s counted %d: %v", session.ID(), n, err)
			}
		})
	}
	wg.Wait()
	require.False(t, t.Failed())
}
