package config

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/model/openai/openaitest"
	"github.com/weft-run/weft/host/tool/mcp"
	"github.com/weft-run/weft/message"
)

// serveTools as the first argument makes the test program an MCP server.
const serveTools = "serve-tools"

// serve is an MCP server over standard input and output: look is read-only, wipe is not, environment tells what it has.
func serve(args []string) {
	if slices.Contains(args, "broken") {
		fmt.Fprintln(os.Stderr, "the disk is missing")
		os.Exit(3)
	}
	_ = toolServer().Run(context.Background(), &sdk.StdioTransport{})
}

func toolServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	add := func(name string, readOnly bool, answer func() string) {
		s.AddTool(&sdk.Tool{
			Name: name, Description: "Does " + name + ".", InputSchema: json.RawMessage(`{"type":"object"}`),
			Annotations: &sdk.ToolAnnotations{ReadOnlyHint: readOnly},
		}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: answer()}}}, nil
		})
	}
	add("look", true, func() string { return "three files" })
	add("wipe", false, func() string { return "wiped" })
	add("environment", true, func() string { return strings.Join(slices.Sorted(slices.Values(os.Environ())), " ") })
	return s
}

// withServers writes a config that may name the test program as SERVER and the model's server as MODEL, and builds it.
func withServers(t *testing.T, model *openaitest.Server, yaml string, o BuildOptions) (*Built, error) {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	quoted, err := json.Marshal(program)
	require.NoError(t, err)
	replace := []string{"SERVER", string(quoted) + ", " + serveTools}
	if model != nil {
		replace = append(replace, "MODEL", "{provider: openai, name: test, base_url: \""+model.URL+"\"}")
	}
	c, err := Parse(folder(t), []byte(strings.NewReplacer(replace...).Replace(yaml)))
	require.NoError(t, err)
	built, err := c.Build(t.Context(), o)
	if err == nil {
		t.Cleanup(func() { assert.NoError(t, built.Close(context.Background())) })
	}
	return built, err
}

// scripted is a server of the model's protocol.
func scripted(t *testing.T, replies ...openaitest.Reply) *openaitest.Server {
	t.Helper()
	s := openaitest.New(replies...)
	t.Cleanup(s.Close)
	return s
}

func calls(names ...string) openaitest.Reply {
	var r openaitest.Reply
	for i, name := range names {
		r.Calls = append(r.Calls, openaitest.Call{ID: fmt.Sprint("call_", i), Name: name, Arguments: `{}`})
	}
	return r
}

func TestToolServersFromTheConfig(t *testing.T) {
	model := scripted(t, calls("files_look", "files_environment"), openaitest.Reply{Text: "There are three."})
	var mu sync.Mutex
	var asked, told []string
	built, err := withServers(t, model, `
model: MODEL
tools:
  - mcp: [SERVER]
    source_id: files
    prefix: files_
    allow: [look, environment]
    env: [WEFT_TEST_GIVEN]
`, BuildOptions{
		Getenv: func(name string) string {
			asked = append(asked, name)
			return map[string]string{"WEFT_TEST_GIVEN": "given", "WEFT_TEST_KEPT": "kept"}[name]
		},
		Starting: func(sourceID string) func() {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, sourceID)
			return func() { mu.Lock(); defer mu.Unlock(); told = append(told, "done") }
		},
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"WEFT_TEST_GIVEN"}, asked, "no other variable is asked for")
	assert.Equal(t, []string{"files", "done"}, told)
	assert.Equal(t, []string{"files"}, built.ToolSources)

	t.Setenv("WEFT_TEST_KEPT", "kept")
	response, err := built.Agent.Run(t.Context(), host.Text("How many files are there?"), host.RunConfig{})
	require.NoError(t, err)
	assert.Equal(t, "There are three.", response.Text())
	sent := string(model.Requests()[1].Body)
	assert.Contains(t, sent, "three files")
	assert.Contains(t, sent, "WEFT_TEST_GIVEN=given")
	assert.NotContains(t, sent, "WEFT_TEST_KEPT")
	assert.NotContains(t, string(model.Requests()[0].Body), "wipe", "a tool that is not allowed is not offered")
}

func TestToolServerOverHTTP(t *testing.T) {
	server := toolServer()
	var headers http.Header
	handler := sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		headers = r.Header.Clone()
		return server
	}, &sdk.StreamableHTTPOptions{Stateless: true})
	endpoint := httptest.NewServer(handler)
	t.Cleanup(endpoint.Close)
	model := scripted(t, calls("look"), openaitest.Reply{Text: "Three."})
	built, err := withServers(t, model, `
model: MODEL
tools:
  - mcp: `+endpoint.URL+`
    headers: {X-Team: weavers}
    headers_env: {Authorization: MCP_AUTHORIZATION}
`, BuildOptions{Getenv: func(string) string { return "Bearer opensesame" }})
	require.NoError(t, err)
	assert.Equal(t, []string{"mcp_127_0_0_1"}, built.ToolSources)
	assert.Equal(t, "Bearer opensesame", headers.Get("Authorization"))
	assert.Equal(t, "weavers", headers.Get("X-Team"))
	_, err = built.Agent.Run(t.Context(), host.Text("Look."), host.RunConfig{})
	require.NoError(t, err)
	assert.Contains(t, string(model.Requests()[1].Body), "three files")
	require.NoError(t, built.Close(t.Context()))
}

// TestBuildReportsAllServers has one good server among several that are not there; it is ended again.
func TestBuildReportsAllServers(t *testing.T) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no: "+r.Header.Get("Authorization"), http.StatusUnauthorized)
	}))
	t.Cleanup(refusing.Close)
	_, err := withServers(t, nil, `
model: {provider: openai, name: test}
tools:
  - mcp: [SERVER]
    source_id: good
  - mcp: [SERVER, broken]
    source_id: broken
  - mcp: [weft-no-such-program]
  - mcp: `+refusing.URL+`
    source_id: web
    headers_env: {Authorization: TOKEN}
  - mcp: [SERVER]
    source_id: poor
    env: [WEFT_TEST_MISSING]
`, BuildOptions{Getenv: func(name string) string { return map[string]string{"TOKEN": "Bearer opensesame"}[name] }})
	var faults *Errors
	require.ErrorAs(t, err, &faults)
	require.ErrorIs(t, err, mcp.ErrConnection)
	require.Len(t, faults.Faults, 5, "%v", err)
	for i, want := range []struct{ place, text string }{
		{":2:19: model.provider: ", "the environment variable OPENAI_API_KEY, which holds the key of the model's service, is not set or empty: set it"},
		{":6:5: tools[1]: tool server broken: ", "the disk is missing"},
		{":8:5: tools[2]: tool server weft_no_such_program: ", "executable file not found"},
		{":9:5: tools[3]: tool server web: ", "Unauthorized"},
		{":14:11: tools[4].env[0]: ", "WEFT_TEST_MISSING"},
	} {
		assert.Contains(t, faults.Faults[i].String(), want.place)
		assert.Contains(t, faults.Faults[i].String(), want.text)
	}
	assert.NotContains(t, err.Error(), "opensesame")
}

func TestApprovalsFromTheConfig(t *testing.T) {
	const yaml = `
model: MODEL
tools:
  - mcp: [SERVER]
    source_id: files
    approval: %s
approvals: {allow: [%s], deny: [%s], ask: [%s]}
`
	for name, c := range map[string]struct {
		approval, allow, deny, ask string
		want                       string
	}{
		"the server's own words": {"annotations", "", "", "", "asked"},
		"allowed":                {"always", `"w*"`, "", "", "wiped"},
		"denied before allowed":  {"never", "wipe", `"*"`, "wipe", "rejected by policy"},
		"asked before allowed":   {"never", "wipe", "", `"?ipe"`, "asked"},
		"other tools":            {"never", "", "look", `"wip"`, "wiped"},
	} {
		t.Run(name, func(t *testing.T) {
			model := scripted(t, calls("wipe"), openaitest.Reply{Text: "Done."})
			built, err := withServers(t, model, fmt.Sprintf(yaml, c.approval, c.allow, c.deny, c.ask), BuildOptions{})
			require.NoError(t, err)
			response, err := built.Agent.Run(t.Context(), host.Text("Wipe it."), host.RunConfig{Session: host.NewSession("")})
			require.NoError(t, err)
			if c.want == "asked" {
				last := response.Messages[len(response.Messages)-1]
				assert.IsType(t, message.ApprovalRequest{}, last.Contents[len(last.Contents)-1])
				return
			}
			assert.Contains(t, string(model.Requests()[1].Body), c.want)
		})
	}
}

func TestPatternsOfNames(t *testing.T) {
	for pattern, names := range map[string]map[string]bool{
		"*":      {"": true, "a\nb": true},
		"get_*":  {"get_": true, "get_a": true, "forget_a": false, "get": false},
		"a?c":    {"abc": true, "ac": false, "aéc": true},
		"a.c":    {"a.c": true, "abc": false},
		"[a-z]+": {"[a-z]+": true, "abc": false},
		"a\xff":  {"a": false},
	} {
		re := anyOf([]string{"nobody", pattern})
		for name, want := range names {
			assert.Equal(t, want, re.MatchString(name), "%q %q", pattern, name)
		}
	}
}

func TestToolsOfOneNameAreToldWithTheirPlace(t *testing.T) {
	_, err := withServers(t, nil, "tools:\n  - {mcp: [SERVER], source_id: a}\n  - {mcp: [SERVER], source_id: b, allow: [look]}\n", BuildOptions{})
	require.ErrorContains(t, err, `weft.yaml:3:6: tools[1]: tool server b has a tool "look", and so has a: give it a prefix, such as prefix: b_`)
	built, err := withServers(t, nil, "tools:\n  - {mcp: [SERVER], source_id: a}\n  - {mcp: [SERVER], source_id: b, prefix: b_}\n", BuildOptions{})
	require.NoError(t, err)
	require.NoError(t, built.Close(t.Context()))
}
