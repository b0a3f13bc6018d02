package tool_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/schema"
	"github.com/weft-run/weft/host/tool"
	"github.com/weft-run/weft/message"
)

// model answers with a function; it streams nothing.
type model func(ctx context.Context, r *host.ChatRequest) (*host.Response, error)

func (m model) Complete(ctx context.Context, r *host.ChatRequest) (*host.Response, error) {
	return m(ctx, r)
}

func (m model) Stream(context.Context, *host.ChatRequest) iter.Seq2[*host.Update, error] {
	return func(yield func(*host.Update, error) bool) { yield(nil, errors.New("not streamed")) }
}

// callsOnce is a model that calls one tool and then says what the tool's result was.
func callsOnce(name, arguments string) model {
	return func(_ context.Context, r *host.ChatRequest) (*host.Response, error) {
		last := r.Messages[len(r.Messages)-1]
		for _, c := range last.Contents {
			if result, ok := c.(message.FunctionResult); ok {
				return host.NewResponse("heard " + string(result.Result)), nil
			}
		}
		return reply(name, arguments), nil
	}
}

// reply is a reply that calls one tool.
func reply(name, arguments string) *host.Response {
	call := message.FunctionCall{CallID: "1", Name: name, Arguments: jsontext.Value(arguments)}
	return &host.Response{Messages: []*message.Message{message.New(message.RoleAssistant, call)}, Usage: &host.Usage{InputTokens: 7}}
}

type trip struct {
	City string   `json:"city" jsonschema:"the city's name"`
	Days int      `json:"days,omitzero"`
	With []string `json:"with,omitempty"`
}

func TestWhatFunctionsGiveBack(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		tool      func() (host.FunctionTool, error)
		arguments string
		want      string
	}{
		"a text": {func() (host.FunctionTool, error) {
			return tool.New(tool.Config{Name: "f"}, func(_ context.Context, in trip) (string, error) {
				return fmt.Sprintf("%s for %d with %v", in.City, in.Days, in.With), nil
			})
		}, `{"city":"Bonn","days":2,"with":["Ada"]}`, `"Bonn for 2 with [Ada]"`},
		"a struct": {func() (host.FunctionTool, error) {
			return tool.New(tool.Config{Name: "f"}, func(_ context.Context, in trip) (trip, error) { return in, nil })
		}, `{"city":"Bonn"}`, `{"city":"Bonn"}`},
		"a large integer": {func() (host.FunctionTool, error) {
			return tool.New(tool.Config{Name: "f"}, func(_ context.Context, in struct{ ID uint64 }) (uint64, error) { return in.ID, nil })
		}, `{"ID":18446744073709551615}`, `18446744073709551615`},
		"nothing for nothing": {func() (host.FunctionTool, error) {
			return tool.New(tool.Config{Name: "f"}, func(context.Context, tool.None) (tool.None, error) { return tool.None{}, nil })
		}, ``, `"Done."`},
		"JSON as it is": {func() (host.FunctionTool, error) {
			return tool.New(tool.Config{Name: "f"}, func(_ context.Context, in struct {
				Any jsontext.Value `json:"any"`
			},
			) (jsontext.Value, error) {
				return in.Any, nil
			})
		}, `{"any":[1e400]}`, `[1e400]`},
		"a map for a map": {func() (host.FunctionTool, error) {
			return tool.New(tool.Config{Name: "f"}, func(_ context.Context, in map[string]int) (map[string]int, error) { return in, nil })
		}, `{"b":1,"a":2}`, `{"a":2,"b":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := c.tool()
			require.NoError(t, err)
			out, err := f.Call(ctx, jsontext.Value(c.arguments))
			require.NoError(t, err)
			require.Equal(t, c.want, string(out))
			_, asks := f.(host.ApprovalTool)
			require.False(t, asks, "approval was not asked for")
		})
	}
}

func TestArgumentsThatDoNotFit(t *testing.T) {
	f, err := tool.New(tool.Config{Name: "f"}, func(context.Context, trip) (string, error) {
		t.Error("the function was called")
		return "", nil
	})
	require.NoError(t, err)
	for arguments, says := range map[string]string{
		`{"city":"Bonn","town":"Bonn"}`: `unexpected additional properties ["town"]`,
		`{"City":"Bonn"}`:               `unexpected additional properties ["City"]`,
		`{"city":1}`:                    `/properties/city: type: 1 has type "integer", want "string"`,
		`{"city":"a","city":"b"}`:       "duplicate",
	} {
		agent, err := host.NewAgent(host.AgentConfig{
			Name: "a", Client: callsOnce("f", arguments), Tools: []host.Tool{f},
			FunctionInvocation: host.FunctionInvocation{IncludeDetailedErrors: true},
		})
		require.NoError(t, err)
		response, err := agent.Run(context.Background(), host.Text("go"), host.RunConfig{})
		require.NoError(t, err)
		results := response.Messages[1].Contents
		assert.Contains(t, results[0].(message.FunctionResult).Error, says)

		_, err = f.Call(context.Background(), jsontext.Value(arguments))
		if arguments != `{"city":1}` && says[0] == 'n' {
			assert.Error(t, err, "a caller that holds nothing against the schema")
		}
	}
}

func TestConfigsThatAreRefused(t *testing.T) {
	str := func(context.Context, tool.None) (string, error) { return "", nil }
	for name, kind := range map[string]error{"": host.ErrToolName, "read file": host.ErrToolName, "é": host.ErrToolName} {
		_, err := tool.New(tool.Config{Name: name}, str)
		require.ErrorIs(t, err, kind)
		_, err = tool.Declared(name, "", nil)
		require.ErrorIs(t, err, kind)
	}
	_, err := tool.New[int, string](tool.Config{Name: "a b"}, nil)
	require.ErrorIs(t, err, host.ErrToolName, "all faults at once")
	require.ErrorIs(t, err, schema.ErrType)
	require.ErrorContains(t, err, "a tool needs a function, and it is nil")
	_, err = tool.New(tool.Config{Name: "f"}, func(context.Context, struct{ Wait time.Duration }) (string, error) { return "", nil })
	require.ErrorIs(t, err, schema.ErrType)
	_, err = tool.New(tool.Config{Name: "f"}, func(context.Context, *trip) (string, error) { return "", nil })
	require.ErrorIs(t, err, schema.ErrType)
	_, err = tool.Raw(tool.Config{Name: "f"}, nil, nil)
	require.ErrorContains(t, err, "nil")
	require.Panics(t, func() { tool.Must(tool.New(tool.Config{}, str)) })
}

func TestTwoToolsOfOneName(t *testing.T) {
	one := tool.Must(tool.New(tool.Config{Name: "f"}, func(context.Context, tool.None) (string, error) { return "", nil }))
	two := tool.Must(tool.Declared("f", "", nil))
	_, err := host.NewAgent(host.AgentConfig{Client: callsOnce("f", ""), Tools: []host.Tool{one, two}})
	require.ErrorIs(t, err, host.ErrDuplicateTool)
	_, err = host.NewAgent(host.AgentConfig{Client: callsOnce("f", ""), Tools: []host.Tool{one, one}})
	require.NoError(t, err, "the same tool twice counts once")
}

func TestApproval(t *testing.T) {
	calls := 0
	f := tool.Must(tool.New(tool.Config{Name: "pay", NeedsApproval: func(c message.FunctionCall) bool {
		return string(c.Arguments) != `{"euros":1}`
	}}, func(_ context.Context, in struct {
		Euros int `json:"euros"`
	},
	) (tool.None, error) {
		calls++
		return tool.None{}, nil
	}))
	ctx := context.Background()
	for arguments, waits := range map[string]bool{`{"euros":1}`: false, `{"euros":2}`: true} {
		calls = 0
		agent, err := host.NewAgent(host.AgentConfig{Name: "a", Client: callsOnce("pay", arguments), Tools: []host.Tool{f}})
		require.NoError(t, err)
		session := agent.CreateSession("")
		response, err := agent.Run(ctx, host.Text("pay"), host.RunConfig{Session: session})
		require.NoError(t, err)
		if !waits {
			require.Equal(t, `heard "Done."`, response.Text())
			continue
		}
		require.Zero(t, calls)
		last := response.Messages[len(response.Messages)-1].Contents
		request := last[len(last)-1].(message.ApprovalRequest)
		yes := message.New(message.RoleUser, message.ApprovalResponse{Call: request.Call, Approved: true})
		response, err = agent.Run(ctx, []*message.Message{yes}, host.RunConfig{Session: session})
		require.NoError(t, err)
		require.Equal(t, 1, calls)
		require.Equal(t, `heard "Done."`, response.Text())
	}
	require.True(t, tool.Always(message.FunctionCall{}))
}

func TestErrorsOfAFunction(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		err   error
		fatal bool
	}{{broken, false}, {host.Fatal(broken), true}} {
		f := tool.Must(tool.Raw(tool.Config{Name: "f"}, nil, func(context.Context, jsontext.Value) (jsontext.Value, error) { return nil, c.err }))
		agent, err := host.NewAgent(host.AgentConfig{Client: callsOnce("f", ""), Tools: []host.Tool{f}})
		require.NoError(t, err)
		response, err := agent.Run(context.Background(), host.Text("go"), host.RunConfig{})
		if c.fatal {
			require.ErrorIs(t, err, broken)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, `heard "Error: Function failed."`, response.Text())
	}
	f := tool.Must(tool.New(tool.Config{Name: "f"}, func(context.Context, tool.None) (func(), error) { return func() {}, nil }))
	_, err := f.Call(context.Background(), nil)
	require.ErrorContains(t, err, "result of f")
}

func TestManyGoroutinesCallOneTool(t *testing.T) {
	f := tool.Must(tool.New(tool.Config{Name: "f"}, func(_ context.Context, in struct{ N int }) (int, error) { return in.N + 1, nil }))
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			for range 20 {
				arguments := jsontext.Value(fmt.Sprintf(`{"N":%d}`, i))
				assert.NoError(t, f.Definition().Parameters.Validate(arguments))
				out, err := f.Call(context.Background(), arguments)
				assert.NoError(t, err)
				assert.Equal(t, fmt.Sprint(i+1), string(out))
			}
		})
	}
	wg.Wait()
}

func TestToolsSayWhatTheConfigSaysOfTrust(t *testing.T) {
	f := func(context.Context, tool.None) (string, error) { return "", nil }
	for _, want := range []bool{false, true} {
		for _, approval := range []func(message.FunctionCall) bool{nil, tool.Always} {
			made, err := tool.New(tool.Config{Name: "f", RequiresTrusted: want, Untrusted: want, NeedsApproval: approval}, f)
			require.NoError(t, err)
			require.Equal(t, want, made.(host.TrustRequiredTool).RequiresTrusted())
			require.Equal(t, want, made.(host.UntrustedSource).Untrusted())
		}
	}
}
