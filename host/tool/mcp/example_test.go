package mcp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/model/offline"
	"github.com/weft-run/weft/host/tool/mcp"
)

// weatherServer is a server as somebody else may run one.
func weatherServer() *httptest.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "weather", Version: "1"}, nil)
	type place struct {
		City string `json:"city" jsonschema:"the city's name"`
	}
	sdk.AddTool(server, &sdk.Tool{Name: "forecast", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *sdk.CallToolRequest, in place) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "Rain in " + in.City}}}, nil, nil
		})
	return httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
}

func Example() {
	endpoint := weatherServer()
	defer endpoint.Close()
	ctx := context.Background()
	weather, err := mcp.Connect(ctx, mcp.Config{SourceID: "weather", HTTP: &mcp.HTTP{URL: endpoint.URL}, Prefix: "weather_"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer weather.Close()
	if _, err := host.NewAgent(host.AgentConfig{
		Name: "guide", Client: offline.New(offline.Config{}), ToolSources: []host.ToolSource{weather},
	}); err != nil {
		fmt.Println(err)
		return
	}
	tools, err := weather.Tools(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := tools[0].(host.FunctionTool).Call(ctx, []byte(`{"city":"Bonn"}`))
	fmt.Println(tools[0].Definition().Name, string(out), err)
	// Output: weather_forecast "Rain in Bonn" <nil>
}

func ExampleConfig() {
	// A program gets nothing of the environment but PATH, HOME and what is named; every call is asked about, except those of
	// the one tool that is known to be harmless.
	_, err := mcp.Connect(context.Background(), mcp.Config{
		SourceID:   "files",
		Command:    &mcp.Command{Path: "no-such-mcp-server", Args: []string{"/srv/docs"}, Env: []string{"LOG=warn"}},
		Prefix:     "files_",
		Allow:      []string{"read", "write"},
		Approval:   mcp.Always,
		ApprovalOf: map[string]mcp.Approval{"read": mcp.Never},
	})
	fmt.Println(err != nil)
	// Output: true
}
