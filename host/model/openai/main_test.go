package openai_test

import (
	"context"
	"flag"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/model/openai"
	"github.com/weft-run/weft/host/model/openai/openaitest"
	"github.com/weft-run/weft/message"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk-test-0123456789abcdef"

var bothAPIs = []openai.API{openai.ChatCompletions, openai.Responses}

// serverOf starts a scripted server that ends with the test.
func serverOf(t testing.TB, replies ...openaitest.Reply) *openaitest.Server {
	t.Helper()
	s := openaitest.New(replies...)
	t.Cleanup(s.Close)
	return s
}

// clientOf makes a client that is closed before its server.
func clientOf(t testing.TB, c openai.Config) *openai.Client {
	t.Helper()
	if c.Model == "" {
		c.Model = "test-model"
	}
	client, err := openai.New(c)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, client.Close()) })
	return client
}

// handled starts a server of a handler and a client for it.
func handled(t testing.TB, c openai.Config, handler http.HandlerFunc) *openai.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	c.BaseURL = server.URL + "/v1"
	return clientOf(t, c)
}

// rawly starts a server that answers each connection with the same bytes and closes it, and a client for it.
func rawly(t testing.TB, c openai.Config, answer string) *openai.Client {
	t.Helper()
	return handled(t, c, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a connection closed on unread bytes is reset
		conn, _, err := w.(http.Hijacker).Hijack()
		if assert.NoError(t, err) {
			defer func(conn net.Conn) { assert.NoError(t, conn.Close()) }(conn)
			_, err = conn.Write([]byte(answer))
			assert.NoError(t, err)
		}
	})
}

func hello() *host.ChatRequest { return &host.ChatRequest{Messages: host.Text("hi")} }

// streamed reads a stream to its end.
func streamed(ctx context.Context, c host.ChatClient, r *host.ChatRequest) (updates []*host.Update, err error) {
	for u, e := range c.Stream(ctx, r) {
		if e != nil {
			err = e
			continue
		}
		updates = append(updates, u)
	}
	return updates, err
}

// golden compares JSON with testdata/name.
func golden(t *testing.T, name string, got jsontext.Value) {
	t.Helper()
	got = got.Clone()
	require.NoError(t, got.Indent(jsontext.WithIndent("  ")), "%s", got)
	got = append(got, '\n')
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, got, 0o644))
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "run with -update")
	require.Equal(t, string(want), string(got), "%s differs; look at it, then run with -update", file)
}

// tool is a function tool of a test.
type tool struct {
	name   string
	schema host.Schema
	call   func(arguments jsontext.Value) (jsontext.Value, error)
}

func (f tool) Definition() host.ToolDefinition {
	return host.ToolDefinition{Name: f.name, Description: "Does " + f.name + ".", Parameters: f.schema}
}

func (f tool) Call(_ context.Context, arguments jsontext.Value) (jsontext.Value, error) {
	return f.call(arguments)
}

// document is a schema that fits everything.
type document string

func (d document) JSON() []byte                  { return []byte(d) }
func (d document) Validate(jsontext.Value) error { return nil }

func assistant(contents ...message.Content) *message.Message {
	return message.New(message.RoleAssistant, contents...)
}
