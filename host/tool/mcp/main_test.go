package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

// These names of environment make the test binary an MCP server: how it behaves, and a folder in which it leaves marks.
const (
	behaviourName = "MCP_TEST_SERVER"
	folderName    = "MCP_TEST_FOLDER"
)

func TestMain(m *testing.M) {
	switch behaviour := os.Getenv(behaviourName); behaviour {
	case "":
		goleak.VerifyTestMain(m)
	case "mute": // reads and says nothing
		leaveMark("pid", fmt.Sprint(os.Getpid()))
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "stubborn": // does not read, and does not want to end
		signal.Ignore(syscall.SIGTERM)
		leaveMark("pid", fmt.Sprint(os.Getpid()))
		<-time.After(time.Minute) // should the test that wants it killed be killed itself
	case "loud": // writes to standard error and ends
		fmt.Fprintln(os.Stderr, "the database is on fire\x1b[31m")
		os.Exit(4)
	default:
		leaveMark("pid", fmt.Sprint(os.Getpid()))
		_ = newServer(behaviour).Run(context.Background(), &sdk.StdioTransport{})
	}
}

// leaveMark appends a line to a file in the folder.
func leaveMark(name, text string) {
	if os.Getenv(folderName) == "" {
		return // a server inside the test's own process
	}
	f, err := os.OpenFile(filepath.Join(os.Getenv(folderName), name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	fmt.Fprintln(f, text)
}

// marks are the lines of such a file.
func marks(folder, name string) []string {
	raw, _ := os.ReadFile(filepath.Join(folder, name))
	return strings.Fields(string(raw))
}

func text(format string, args ...any) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

// open is the schema of a tool that takes anything.
const open = `{"type":"object"}`

// newServer is a server of a behaviour; "usual" is one with all tools that work.
func newServer(behaviour string) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ServerOptions{PageSize: 2})
	add := func(name, schema string, a *sdk.ToolAnnotations, f func(ctx context.Context, arguments string) (*sdk.CallToolResult, error)) {
		s.AddTool(&sdk.Tool{Name: name, Description: "The tool " + name + ".", InputSchema: json.RawMessage(schema), Annotations: a},
			func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return f(ctx, string(r.Params.Arguments))
			})
	}
	says := func(words string) func(context.Context, string) (*sdk.CallToolResult, error) {
		return func(context.Context, string) (*sdk.CallToolResult, error) { return text("%s", words), nil }
	}
	readOnly := &sdk.ToolAnnotations{ReadOnlyHint: true}
	gentle := &sdk.ToolAnnotations{DestructiveHint: new(false)}
	switch behaviour {
	case "usual":
	case "bad tools":
		add("good", open, readOnly, says("good"))
		add("far", `{"type":"object","properties":{"a":{"$ref":"https://example.com/a.json"}}}`, nil, says(""))
		add("cycle", `{"type":"object","allOf":[{"$ref":"#"}]}`, nil, says(""))
		add("large", `{"type":"object","description":"`+strings.Repeat("a", 64<<10)+`"}`, nil, says(""))
		add("files/read", open, nil, says(""))
		add("files.read", open, nil, says(""))
		add(strings.Repeat("n", 65), open, nil, says(""))
		return s
	case "endless list", "circular list", "long list":
		pages := 0
		s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
			return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
				if method != "tools/list" {
					return next(ctx, method, r)
				}
				pages++
				result := &sdk.ListToolsResult{Tools: []*sdk.Tool{}, NextCursor: fmt.Sprint(pages)}
				if behaviour == "circular list" {
					result.NextCursor = "again"
				}
				for i := range 100 {
					if behaviour == "long list" {
						result.Tools = append(result.Tools, &sdk.Tool{Name: fmt.Sprint("t", pages, "_", i), InputSchema: json.RawMessage(open)})
					}
				}
				return result, nil
			}
		})
		add("a", open, nil, says(""))
		return s
	}
	add("echo", `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`, readOnly,
		func(_ context.Context, arguments string) (*sdk.CallToolResult, error) {
			return text("%s", arguments), nil
		})
	add("env", open, readOnly, func(context.Context, string) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{}, StructuredContent: os.Environ()}, nil
	})
	add("numbers", open, readOnly, func(context.Context, string) (*sdk.CallToolResult, error) {
		raw := `{"id":12345678901234567890}`
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: raw}}, StructuredContent: json.RawMessage(raw)}, nil
	})
	add("lines", open, readOnly, func(context.Context, string) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "one"}, &sdk.TextContent{Text: "two"}}}, nil
	})
	add("picture", open, readOnly, func(context.Context, string) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{
			&sdk.TextContent{Text: "a map"}, &sdk.ImageContent{Data: []byte("12345"), MIMEType: "image/png"},
			&sdk.ResourceLink{URI: "file:///a", Name: "a"},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///b", Text: "b's text", MIMEType: "text/plain"}},
		}}, nil
	})
	add("fail", open, readOnly, func(context.Context, string) (*sdk.CallToolResult, error) {
		r := text("the disk is full")
		r.IsError = true
		return r, nil
	})
	add("refuse", open, readOnly, func(context.Context, string) (*sdk.CallToolResult, error) {
		return nil, fmt.Errorf("the server does not want to")
	})
	add("hang", open, readOnly, func(ctx context.Context, _ string) (*sdk.CallToolResult, error) {
		leaveMark("hanging", "x")
		<-ctx.Done()
		leaveMark("cancelled", "x")
		return nil, ctx.Err()
	})
	add("huge", open, readOnly, func(context.Context, string) (*sdk.CallToolResult, error) {
		return text("%s", strings.Repeat("a", 256<<10)), nil
	})
	add("enormous", open, readOnly, func(context.Context, string) (*sdk.CallToolResult, error) {
		return text("%s", strings.Repeat("a", 5<<20)), nil
	})
	crash := func(times int) func(context.Context, string) (*sdk.CallToolResult, error) {
		return func(context.Context, string) (*sdk.CallToolResult, error) {
			leaveMark("crashes", "x")
			if len(marks(os.Getenv(folderName), "crashes")) <= times {
				fmt.Fprintln(os.Stderr, "out of luck")
				os.Exit(3)
			}
			return text("alive"), nil
		}
	}
	add("crash_once", open, readOnly, crash(1))
	add("crash_always", open, readOnly, crash(1000))
	add("crash_idempotent", open, &sdk.ToolAnnotations{IdempotentHint: true}, crash(1))
	add("crash_write", open, nil, crash(1000))
	add("delete", open, nil, says("deleted"))
	add("append", open, gentle, says("appended"))
	add("grow", open, readOnly, func(context.Context, string) (*sdk.CallToolResult, error) {
		add("late", open, readOnly, says("late"))
		return text("grown"), nil
	})
	return s
}
