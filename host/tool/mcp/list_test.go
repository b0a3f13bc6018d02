package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/schema"
	"github.com/weft-run/weft/host/tool/mcp"
	"github.com/weft-run/weft/message"
)

func TestTheListChanges(t *testing.T) {
	local, _ := program(t, "usual")
	for where, c := range map[string]mcp.Config{"program": local, "http": endpoint(t, "usual")} {
		t.Run(where, func(t *testing.T) {
			s := connect(t, c)
			before := toolsOf(t, s)
			require.NotContains(t, before, "late")
			_, err := before["grow"].Call(t.Context(), nil)
			require.NoError(t, err)
			require.Eventually(t, func() bool { return toolsOf(t, s)["late"] != nil }, 10*time.Second, time.Millisecond)
			out, err := toolsOf(t, s)["late"].Call(t.Context(), nil)
			require.NoError(t, err)
			require.Equal(t, `"late"`, string(out))
			again := toolsOf(t, s)
			require.Same(t, again["late"], toolsOf(t, s)["late"], "the list is not read again for nothing")
		})
	}
}

func TestToolsThatCannotBeUsed(t *testing.T) {
	c := endpoint(t, "bad tools")
	var log bytes.Buffer
	c.Logger = slog.New(slog.NewTextHandler(&log, nil))
	c.Allow = []string{"good", "far", "cycle", "large", "files/read", "files.read", strings.Repeat("n", 65), "misspelt"}
	c.ApprovalOf = map[string]mcp.Approval{"also misspelt": mcp.Always}
	s := connect(t, c)
	require.Len(t, toolsOf(t, s), 2)
	require.Contains(t, toolsOf(t, s), "good")
	require.Contains(t, toolsOf(t, s), "files_read", "names are made such that models can use them")
	said := log.String()
	require.Equal(t, 1, strings.Count(said, "https://example.com/a.json"), "once")
	for _, part := range []string{`\"far\"`, `\"cycle\"`, `\"large\"`, `duplicate tool`, "nnnn", "reason=misspelt", `reason="also misspelt"`} {
		require.Contains(t, said, part)
	}

	c.Strict = true
	_, err := mcp.Connect(t.Context(), c)
	for _, kind := range []error{schema.ErrRemoteReference, schema.ErrCycle, schema.ErrTooLarge, host.ErrToolName, host.ErrDuplicateTool} {
		require.ErrorIs(t, err, kind)
	}
	c.Allow = []string{"good"}
	connect(t, c)
}

func TestListsWithoutAnEnd(t *testing.T) {
	for behaviour, says := range map[string]string{
		"endless list": "more than 64 pages", "circular list": "one page twice", "long list": "more than 256 tools",
	} {
		_, err := mcp.Connect(t.Context(), endpoint(t, behaviour))
		require.ErrorIs(t, err, mcp.ErrList)
		require.ErrorContains(t, err, says)
	}
}

func TestWhichCallsNeedApproval(t *testing.T) {
	c := endpoint(t, "usual")
	for _, wants := range []struct {
		approval                mcp.Approval
		of                      map[string]mcp.Approval
		echo, appending, delete bool
	}{
		{"", nil, false, false, true},
		{mcp.ByAnnotations, map[string]mcp.Approval{"delete": mcp.Never, "echo": mcp.Always}, true, false, false},
		{mcp.Always, nil, true, true, true},
		{mcp.Always, map[string]mcp.Approval{"delete": mcp.ByAnnotations, "echo": mcp.ByAnnotations}, false, true, true},
		{mcp.Never, nil, false, false, false},
	} {
		c.Approval, c.ApprovalOf = wants.approval, wants.of
		c.Prefix, c.Allow = "my_", []string{"echo", "append", "delete"}
		tools := toolsOf(t, connect(t, c))
		require.Len(t, tools, 3)
		for name, want := range map[string]bool{"my_echo": wants.echo, "my_append": wants.appending, "my_delete": wants.delete} {
			assert.Equal(t, want, tools[name].NeedsApproval(message.FunctionCall{Name: name}), "%s with %q", name, wants.approval)
		}
	}
}

// callsThenRepeats is a model that calls a tool and then says what came of it.
type callsThenRepeats string

func (m callsThenRepeats) Complete(_ context.Context, r *host.ChatRequest) (*host.Response, error) {
	for _, c := range r.Messages[len(r.Messages)-1].Contents {
		if result, ok := c.(message.FunctionResult); ok {
			return host.NewResponse(string(result.Result)), nil
		}
	}
	call := message.FunctionCall{CallID: "1", Name: string(m), Arguments: jsontext.Value(`{}`)}
	return &host.Response{Messages: []*message.Message{message.New(message.RoleAssistant, call)}}, nil
}

func (m callsThenRepeats) Stream(context.Context, *host.ChatRequest) iter.Seq2[*host.Update, error] {
	return func(yield func(*host.Update, error) bool) { yield(nil, errors.New("not streamed")) }
}

func TestAnAgentAsksBeforeSomethingIsDeleted(t *testing.T) {
	c, _ := program(t, "usual")
	s := connect(t, c)
	agent, err := host.NewAgent(host.AgentConfig{Name: "a", Client: callsThenRepeats("delete"), ToolSources: []host.ToolSource{s}})
	require.NoError(t, err)
	for approved, want := range map[bool]string{true: `"deleted"`, false: `"Error: Tool call invocation was rejected by user."`} {
		session := agent.CreateSession("")
		response, err := agent.Run(t.Context(), host.Text("delete it"), host.RunConfig{Session: session})
		require.NoError(t, err)
		contents := response.Messages[0].Contents
		request, ok := contents[len(contents)-1].(message.ApprovalRequest)
		require.True(t, ok)
		answer := message.New(message.RoleUser, message.ApprovalResponse{Call: request.Call, Approved: approved})
		response, err = agent.Run(t.Context(), []*message.Message{answer}, host.RunConfig{Session: session})
		require.NoError(t, err)
		require.Equal(t, want, response.Text())
	}
}
