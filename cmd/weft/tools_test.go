package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/config"
	"github.com/weft-run/weft/host/model/openai/openaitest"
)

// serveFiles is an MCP server, the program weft-test-files: read is read-only, and delete is not.
func serveFiles() {
	s := sdk.NewServer(&sdk.Implementation{Name: "files", Version: "1"}, nil)
	for name, readOnly := range map[string]bool{"read": true, "delete": false} {
		s.AddTool(&sdk.Tool{
			Name: name, InputSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`),
			Annotations: &sdk.ToolAnnotations{ReadOnlyHint: readOnly},
		}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf("%s of %s is done", name, r.Params.Arguments)}}}, nil
		})
	}
	_ = s.Run(context.Background(), &sdk.StdioTransport{})
}

const filesYAML = `
name: librarian
model: MODEL
tools:
  - mcp: [weft-test-files]
    source_id: files
    prefix: files_
`

func call(name string) openaitest.Reply {
	return openaitest.Reply{Text: "Let me see.", Calls: []openaitest.Call{{ID: "call_" + name, Name: "files_" + name, Arguments: `{"name":"a.txt"}`}}}
}

func TestToolsOfAServer(t *testing.T) {
	server := model(t, call("read"), openaitest.Reply{Text: "Done."})
	code, out, told := weftOf(t, filesYAML, server, "", "-m", "Read a.txt.", "--trace")
	require.Equal(t, exitOK, code, told)
	assert.Equal(t, "Let me see.Done.\n", out)
	assert.Regexp(t, `(?m)^files +function files_read `, told)
	assert.NotContains(t, told, "[calls", "only a conversation shows calls as they happen")
	assert.Contains(t, string(server.Requests()[1].Body), `read of {\"name\":\"a.txt\"} is done`)
}

func TestApproveWithOneMessage(t *testing.T) {
	for approve, want := range map[string]string{
		approveAll: "is done", approveNone: "rejected by user", approveAsk: "rejected by user",
	} {
		server := model(t, call("delete"), openaitest.Reply{Text: "Well."})
		code, out, told := weftOf(t, filesYAML, server, "", "-m", "Delete a.txt.", "--json", "--approve", approve)
		require.Equal(t, exitOK, code, told)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		require.Len(t, lines, 2, out)
		assert.Contains(t, lines[0], `"approval_requests":[{"call_id":"call_delete","name":"files_delete","arguments":{"name":"a.txt"}}]`)
		assert.Contains(t, lines[1], "Well.")
		assert.Contains(t, string(server.Requests()[1].Body), want, approve)
		assert.Equal(t, approve == approveAsk, strings.Contains(told, "nobody is there to be asked"), approve)
	}
	server := model(t, call("delete"), openaitest.Reply{Text: "Well."})
	code, out, told := weftOf(t, filesYAML+"approvals: {allow: ['*_delete']}\n", server, "", "-m", "Delete a.txt.", "--approve", "none")
	require.Equal(t, exitOK, code, told)
	assert.Contains(t, out, "Well.")
	assert.Contains(t, string(server.Requests()[1].Body), "is done", "who wrote the config allowed it")
}

func TestAConversationShowsCalls(t *testing.T) {
	server := model(t, call("read"), openaitest.Reply{Text: "Read."}, call("delete"), openaitest.Reply{Text: "Deleted."})
	c, err := config.Parse("weft.yaml", []byte(strings.Replace(filesYAML, "MODEL",
		`{provider: openai, name: test, base_url: "`+server.URL+`"}`, 1)))
	require.NoError(t, err)
	built, err := c.Build(t.Context(), config.BuildOptions{})
	require.NoError(t, err)
	defer func() { require.NoError(t, built.Close(t.Context())) }()
	talk, _, out, told := wipeTalk(t, strings.NewReader("Read a.txt.\nDelete a.txt.\ny\n"), runFlags{approve: approveAsk})
	talk.agent, talk.sources, talk.toolSources = built.Agent, built.Sources, built.ToolSources
	talk.introduce(told)
	require.NoError(t, talk.goOn(t.Context(), told, make(chan os.Signal)))
	assert.Equal(t, "Let me see.\nRead.\nLet me see.\nDeleted.\n", out.String())
	assert.Contains(t, told.String(), "librarian (sources: in_memory; tools: files). Ctrl-C")
	assert.Equal(t, 1, strings.Count(told.String(), `[calls files_read {"name":"a.txt"}]`))
	assert.NotContains(t, told.String(), "[calls files_delete", "it was asked about")
}

func TestServersThatCannotBeStarted(t *testing.T) {
	code, out, told := weftOf(t, "tools:\n  - mcp: [weft-no-such-program]\n  - mcp: [weft-test-files]\n    env: [WEFT_TEST_MISSING]\n", nil, "", "-m", "hi")
	assert.Equal(t, exitFailed, code)
	assert.Empty(t, out)
	assert.Contains(t, told, "weft.yaml has 2 faults:")
	assert.Contains(t, told, "weft.yaml:2:5: tools[0]: tool server weft_no_such_program: ")
	assert.Contains(t, told, "weft.yaml:4:11: tools[1].env[0]: the environment variable WEFT_TEST_MISSING")
}

// TestTheConfigOfTheReadme runs what the README shows, with servers that are there.
func TestTheConfigOfTheReadme(t *testing.T) {
	t.Setenv("LANG", "C")
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, data, found := strings.Cut(string(readme), "```yaml\nname: librarian\n")
	require.True(t, found)
	data, _, _ = strings.Cut(data, "```")
	server := model(t, call("read"), openaitest.Reply{Text: "It says hello to ada@example.com."})
	yaml := strings.NewReplacer("http://localhost:11434/v1", server.URL, "mcp-server-files", "weft-test-files").Replace("name: librarian\n" + data)
	code, out, told := weftOf(t, yaml, nil, "", "-m", "What does a.txt say?")
	require.Equal(t, exitOK, code, told)
	assert.Contains(t, out, "It says hello to [EMAIL].")
	assert.Contains(t, string(server.Requests()[1].Body), "is done")
}
