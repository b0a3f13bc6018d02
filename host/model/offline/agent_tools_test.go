package offline_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/model/offline"
	"github.com/weft-run/weft/host/schema"
	"github.com/weft-run/weft/message"
)

// counted counts its calls; each of them needs approval where asks says so.
type counted struct {
	name  string
	asks  bool
	fails bool
	calls int
}

func (c *counted) Definition() host.ToolDefinition {
	takes, err := schema.Parse([]byte(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`))
	if err != nil {
		panic(err)
	}
	return host.ToolDefinition{Name: c.name, Parameters: takes}
}

func (c *counted) Call(_ context.Context, arguments jsontext.Value) (jsontext.Value, error) {
	if c.calls++; c.fails {
		return nil, errors.New("it is broken")
	}
	return arguments, nil
}

func (c *counted) NeedsApproval(message.FunctionCall) bool { return c.asks }

func agentWith(t *testing.T, c host.AgentConfig, tools ...host.Tool) *host.Agent {
	t.Helper()
	c.Name, c.Client, c.Tools = "guide", offline.New(offline.Config{}), tools
	agent, err := host.NewAgent(c)
	require.NoError(t, err)
	return agent
}

// TestAToolIsCalledOncePerQuestion runs whole conversations: what was called for a question is told, and is called again
// where the question is put again.
func TestAToolIsCalledOncePerQuestion(t *testing.T) {
	for name, config := range map[string]host.AgentConfig{
		"history after the run": {},
		"history per call": {
			PerServiceCallHistory: true, Providers: []host.Provider{host.NewInMemoryHistory(host.HistoryConfig{})},
		},
	} {
		lift := &counted{name: "lift"}
		agent := agentWith(t, config, lift)
		session := agent.CreateSession("")
		for i := range 3 {
			response, err := agent.Run(t.Context(), host.Text("lift 7"), host.RunConfig{Session: session})
			require.NoError(t, err, name)
			assert.Equal(t, "“{\"n\":7}” — lift", response.Text(), name)
			assert.Equal(t, i+1, lift.calls, name)
		}
		response, err := agent.Run(t.Context(), host.Text("What did I lift?"), host.RunConfig{Session: session})
		require.NoError(t, err, name)
		assert.Equal(t, "To call lift I need n (a whole number). Say it like this: `lift n=1`", response.Text(), name)
		assert.Equal(t, 3, lift.calls, name)
	}
}

func TestAToolThatFails(t *testing.T) {
	lift := &counted{name: "lift", fails: true}
	agent := agentWith(t, host.AgentConfig{}, lift)
	response, err := agent.Run(t.Context(), host.Text("lift 7"), host.RunConfig{})
	require.NoError(t, err)
	assert.Equal(t, "lift failed: “Error: Function failed.”", response.Text())
	assert.Equal(t, 1, lift.calls)
}

func TestStreamedCalls(t *testing.T) {
	lift := &counted{name: "lift"}
	var kinds []message.Kind
	text := ""
	for u, err := range agentWith(t, host.AgentConfig{}, lift).Stream(t.Context(), host.Text("lift 7"), host.RunConfig{}).Updates() {
		require.NoError(t, err)
		for _, c := range u.Contents {
			kinds = append(kinds, c.Kind())
		}
		text += u.Text()
	}
	assert.Equal(t, []message.Kind{message.KindFunctionCall, message.KindFunctionResult, message.KindText, message.KindText, message.KindText}, kinds)
	assert.Equal(t, "“{\"n\":7}” — lift", text)
}

func TestRequiredAndForbiddenCalls(t *testing.T) {
	lift := &counted{name: "lift"}
	agent := agentWith(t, host.AgentConfig{}, lift)
	run := func(text string, choice host.ToolChoice) *host.Response {
		response, err := agent.Run(t.Context(), host.Text(text), host.RunConfig{Options: host.Options{ToolChoice: choice}})
		require.NoError(t, err)
		return response
	}
	assert.Len(t, run("It weighs 7.", host.ToolChoice{Mode: host.ToolChoiceRequired}).Messages, 2, "a call and its result")
	assert.Equal(t, 1, lift.calls)
	assert.Contains(t, run("lift 7", host.ToolChoice{Mode: host.ToolChoiceNone}).Text(), "Nothing in my context")
	assert.Equal(t, 1, lift.calls)
}

// Two calls of one tool may wait for approval at a time. The host hides them from the model, which must not give the
// second the id of the first.
func TestCallsThatWaitForApproval(t *testing.T) {
	lift := &counted{name: "lift", asks: true}
	agent := agentWith(t, host.AgentConfig{}, lift)
	session := agent.CreateSession("")
	run := func(input ...*message.Message) *host.Response {
		response, err := agent.Run(t.Context(), input, host.RunConfig{Session: session})
		require.NoError(t, err)
		return response
	}
	request := func(r *host.Response) message.ApprovalRequest {
		for _, m := range r.Messages {
			for _, c := range m.Contents {
				if asked, ok := c.(message.ApprovalRequest); ok {
					return asked
				}
			}
		}
		require.Fail(t, "no request for approval")
		return message.ApprovalRequest{}
	}
	first := request(run(message.User("lift 7")))
	second := request(run(message.User("lift 8")))
	assert.NotEqual(t, first.Call.CallID, second.Call.CallID)
	assert.Zero(t, lift.calls)
	assert.Equal(t, "“{\"n\":8}” — lift", run(message.New(message.RoleUser, second.Respond(true))).Text())
	assert.Equal(t, "lift failed: “Error: Tool call invocation was rejected by user.”", run(message.New(message.RoleUser, first.Respond(false))).Text())
	assert.Equal(t, 1, lift.calls)
}
