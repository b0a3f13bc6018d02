package main

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/model/offline"
	"github.com/weft-run/weft/message"
)

// wipe is a tool that nobody may call unasked.
type wipe struct{ runs int }

func (*wipe) Definition() host.ToolDefinition         { return host.ToolDefinition{Name: "wipe_disk"} }
func (*wipe) NeedsApproval(message.FunctionCall) bool { return true }
func (w *wipe) Call(context.Context, jsontext.Value) (jsontext.Value, error) {
	w.runs++
	return jsontext.Value(`"wiped"`), nil
}

func wipeTalk(t *testing.T, in io.Reader, flags runFlags) (*talk, *wipe, *screen, *screen) {
	t.Helper()
	tool := &wipe{}
	agent, err := host.NewAgent(host.AgentConfig{
		Name: "janitor", Client: offline.New(offline.Config{}), Tools: []host.Tool{tool},
	})
	require.NoError(t, err)
	out, told := &screen{}, &screen{}
	return &talk{streams: streams{in: in, out: out, err: told}, flags: flags, agent: agent, session: host.NewSession("")}, tool, out, told
}

func TestApprovalInTheTerminal(t *testing.T) {
	defer goleak.VerifyNone(t)
	typed := strings.Join([]string{
		"wipe_disk please", "what?", "y", // asked again, and let run
		"wipe_disk again", "n", // refused
		"wipe_disk once more", "v", // refused for ever
		"wipe_disk now", // not asked any more
		"",
	}, "\n")
	talk, tool, out, told := wipeTalk(t, strings.NewReader(typed), runFlags{approve: approveAsk})
	require.NoError(t, talk.goOn(t.Context(), told, make(chan os.Signal)))
	assert.Equal(t, 1, tool.runs)
	assert.Equal(t, 3, strings.Count(told.String(), "The agent wants to call wipe_disk {}"))
	assert.Equal(t, 4, strings.Count(told.String(), "Let it?"), "an answer that is none is asked for again")
	assert.Equal(t, 1, strings.Count(out.String(), "“wiped” — wipe_disk"))
	assert.Equal(t, 3, strings.Count(out.String(), "rejected by user"))
}

func TestInputThatEndsBeforeTheDecision(t *testing.T) {
	talk, tool, _, told := wipeTalk(t, strings.NewReader("wipe_disk please\n"), runFlags{approve: approveAsk})
	require.NoError(t, talk.goOn(t.Context(), told, make(chan os.Signal)))
	assert.Zero(t, tool.runs)
	assert.Contains(t, told.String(), "the call was not decided about; it is asked about again")

	talk.in = strings.NewReader("what now?\ny\n") // the next start
	require.NoError(t, talk.goOn(t.Context(), told, make(chan os.Signal)))
	assert.Equal(t, 1, tool.runs, "it is asked about before anything else")
}

func TestApproveWithoutATerminal(t *testing.T) {
	for approve, c := range map[string]struct {
		runs int
		out  string
		told string
	}{
		approveAsk:  {0, "rejected by user", "the call of wipe_disk was refused, for nobody is there to be asked; --approve all"},
		approveAll:  {1, "“wiped” — wipe_disk", ""},
		approveNone: {0, "rejected by user", ""},
	} {
		talk, tool, out, told := wipeTalk(t, nil, runFlags{approve: approve})
		require.NoError(t, talk.answerOne(t.Context(), "wipe_disk please"))
		assert.Equal(t, c.runs, tool.runs, approve)
		assert.Contains(t, out.String(), c.out, approve)
		assert.Contains(t, told.String(), c.told, approve)
	}
	talk, _, out, _ := wipeTalk(t, nil, runFlags{approve: approveAll, json: true})
	require.NoError(t, talk.answerOne(t.Context(), "wipe_disk please"))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 2)
	assert.Contains(t, lines[0], `"approval_requests":[{"call_id":"call_1_`)
	assert.Contains(t, lines[1], `"text":"“wiped” — wipe_disk"`)
}
