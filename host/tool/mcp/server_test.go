package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/schema"
	"github.com/weft-run/weft/host/tool/mcp"
)

// program is a config that starts the test binary as a server, and the folder in which it leaves marks.
func program(t *testing.T, behaviour string) (mcp.Config, string) {
	t.Helper()
	path, err := os.Executable()
	require.NoError(t, err)
	folder := t.TempDir()
	return mcp.Config{
		SourceID: "test", Logger: slog.New(slog.DiscardHandler),
		Command: &mcp.Command{Path: path, Env: []string{behaviourName + "=" + behaviour, folderName + "=" + folder}},
	}, folder
}

// endpoint is a config for the same server over HTTP, inside this process.
func endpoint(t *testing.T, behaviour string) mcp.Config {
	t.Helper()
	server := newServer(behaviour)
	h := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	t.Cleanup(h.Close)
	return mcp.Config{SourceID: "test", Logger: slog.New(slog.DiscardHandler), HTTP: &mcp.HTTP{URL: h.URL}}
}

func connect(t *testing.T, c mcp.Config) *mcp.Server {
	t.Helper()
	s, err := mcp.Connect(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// toolsOf are a server's tools by name.
func toolsOf(t *testing.T, s *mcp.Server) map[string]host.ApprovalTool {
	t.Helper()
	tools, err := s.Tools(t.Context())
	require.NoError(t, err)
	all := map[string]host.ApprovalTool{}
	for _, tool := range tools {
		all[tool.Definition().Name] = tool.(host.ApprovalTool)
	}
	return all
}

// processes are those of this folder that still run.
func processes(t *testing.T, folder string) (alive, all int) {
	t.Helper()
	for _, mark := range marks(folder, "pid") {
		pid, err := strconv.Atoi(mark)
		require.NoError(t, err)
		all++
		if p, err := os.FindProcess(pid); err == nil && p.Signal(syscall.Signal(0)) == nil {
			alive++
		}
	}
	return alive, all
}

func TestWhatToolsGiveBack(t *testing.T) {
	local, _ := program(t, "usual")
	for where, c := range map[string]mcp.Config{"program": local, "http": endpoint(t, "usual")} {
		t.Run(where, func(t *testing.T) {
			s := connect(t, c)
			tools := toolsOf(t, s)
			require.Len(t, tools, 17, "of nine pages")
			echo := tools["echo"].Definition()
			require.Equal(t, "The tool echo.", echo.Description)
			require.ErrorIs(t, echo.Parameters.Validate([]byte(`{"text":1}`)), schema.ErrInvalid)
			for name, want := range map[string]string{
				"echo":    `"{\"text\":\"12345678901234567890\"}"`,
				"numbers": `{"id":12345678901234567890}`,
				"lines":   `"one\ntwo"`,
				"picture": `[{"type":"text","text":"a map"},{"type":"image","mime_type":"image/png","bytes":5},` +
					`{"type":"resource_link","uri":"file:///a","name":"a"},{"type":"resource","text":"b's text","uri":"file:///b","mime_type":"text/plain"}]`,
			} {
				arguments := ``
				if name == "echo" {
					arguments = `{"text":"12345678901234567890"}`
				}
				out, err := tools[name].Call(t.Context(), jsontext.Value(arguments))
				require.NoError(t, err, name)
				require.Equal(t, want, string(out))
			}
			_, err := tools["fail"].Call(t.Context(), nil)
			failed, ok := errors.AsType[*mcp.ToolError](err)
			require.True(t, ok)
			require.Equal(t, mcp.ToolError{SourceID: "test", Tool: "fail", Text: "the disk is full"}, *failed)
			_, err = tools["refuse"].Call(t.Context(), nil)
			require.ErrorContains(t, err, "the server does not want to")
			require.NotErrorIs(t, err, mcp.ErrConnection)
			_, err = tools["huge"].Call(t.Context(), nil)
			require.ErrorIs(t, err, mcp.ErrResultTooLarge)
			require.ErrorContains(t, err, "262146 bytes, at most 262144")
			_, err = tools["enormous"].Call(t.Context(), nil)
			require.ErrorIs(t, err, mcp.ErrConnection, "one message is bounded too")
			_, err = tools["lines"].Call(t.Context(), nil)
			require.NoError(t, err, "and the next call works")
		})
	}
}

func TestTheProgramsEnvironment(t *testing.T) {
	t.Setenv("SECRET_OF_THE_HOST", "x")
	c, folder := program(t, "usual")
	c.Command.Env = append(c.Command.Env, "MINE=yes")
	s := connect(t, c)
	out, err := toolsOf(t, s)["env"].Call(t.Context(), nil)
	require.NoError(t, err)
	for _, entry := range strings.Split(strings.Trim(string(out), `[]"`), `","`) {
		name, _, _ := strings.Cut(entry, "=")
		assert.Contains(t, []string{"PATH", "HOME", "MINE", behaviourName, folderName}, name)
	}
	require.Contains(t, string(out), "MINE=yes")
	require.NoError(t, s.Close())
	require.NoError(t, s.Close(), "once more does nothing")
	alive, all := processes(t, folder)
	require.Equal(t, [2]int{0, 1}, [2]int{alive, all})
	_, err = s.Tools(t.Context())
	require.ErrorIs(t, err, mcp.ErrClosed)
}

func TestCrashes(t *testing.T) {
	for name, c := range map[string]struct {
		starts int
		err    error
		says   string
	}{
		"crash_once":       {2, nil, ""},
		"crash_idempotent": {2, nil, ""},
		"crash_always":     {2, mcp.ErrConnection, "it broke twice"},
		"crash_write":      {1, mcp.ErrConnection, "was not repeated"},
	} {
		t.Run(name, func(t *testing.T) {
			config, folder := program(t, "usual")
			s := connect(t, config)
			tools := toolsOf(t, s)
			out, err := tools[name].Call(t.Context(), nil)
			_, started := processes(t, folder)
			require.Equal(t, c.starts, started)
			if c.err == nil {
				require.NoError(t, err)
				require.Equal(t, `"alive"`, string(out))
			} else {
				require.ErrorIs(t, err, c.err)
				require.ErrorContains(t, err, c.says)
				out, err = tools["echo"].Call(t.Context(), []byte(`{"text":"a"}`))
				require.NoError(t, err, "the next call starts the program again")
				require.Equal(t, `"{\"text\":\"a\"}"`, string(out))
			}
			require.NotEmpty(t, toolsOf(t, s))
			require.NoError(t, s.Close())
			alive, _ := processes(t, folder)
			require.Zero(t, alive)
		})
	}
}

func TestAnEndpointThatWasRestarted(t *testing.T) {
	var handler atomic.Pointer[http.Handler]
	var server *sdk.Server
	restart := func() {
		if server != nil {
			for session := range server.Sessions() {
				_ = session.Close()
			}
		}
		server = newServer("usual")
		server := server
		h := http.Handler(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
		handler.Store(&h)
	}
	restart()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*handler.Load()).ServeHTTP(w, r) }))
	defer h.Close()
	s := connect(t, mcp.Config{SourceID: "test", Logger: slog.New(slog.DiscardHandler), HTTP: &mcp.HTTP{URL: h.URL}})
	tools := toolsOf(t, s)
	restart()
	out, err := tools["lines"].Call(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, `"one\ntwo"`, string(out))
	require.NoError(t, s.Close()) // before the server, which waits for its streams
}

func TestCallsThatDoNotEnd(t *testing.T) {
	local, folder := program(t, "usual")
	for where, c := range map[string]mcp.Config{"program": local, "http": endpoint(t, "usual")} {
		t.Run(where, func(t *testing.T) {
			c.CallTimeout = 100 * time.Millisecond
			s := connect(t, c)
			tools := toolsOf(t, s)
			_, err := tools["hang"].Call(t.Context(), nil)
			require.ErrorIs(t, err, host.ErrTimeout)
			require.ErrorContains(t, err, "no answer within 100ms")

			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			_, err = tools["hang"].Call(ctx, nil)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			ctx, cancel = context.WithCancel(t.Context())
			cancel()
			_, err = tools["echo"].Call(ctx, []byte(`{"text":"a"}`))
			require.ErrorIs(t, err, context.Canceled)

			out, err := tools["lines"].Call(t.Context(), nil)
			require.NoError(t, err, "the connection is still there")
			require.Equal(t, `"one\ntwo"`, string(out))
			if where == "program" {
				require.Eventually(t, func() bool { return len(marks(folder, "cancelled")) > 0 }, 10*time.Second, time.Millisecond,
					"the server is told")
				_, started := processes(t, folder)
				require.Equal(t, 1, started)
			}
		})
	}
}

func TestCloseEndsWhatIsUnderWay(t *testing.T) {
	c, folder := program(t, "usual")
	s := connect(t, c)
	hang := toolsOf(t, s)["hang"]
	ended := make(chan error, 1)
	go func() {
		_, err := hang.Call(context.Background(), nil)
		ended <- err
	}()
	require.Eventually(t, func() bool { return len(marks(folder, "hanging")) > 0 }, 10*time.Second, time.Millisecond)
	require.NoError(t, s.Close())
	require.ErrorIs(t, <-ended, mcp.ErrClosed)
	_, err := hang.Call(t.Context(), nil)
	require.ErrorIs(t, err, mcp.ErrClosed)
	alive, all := processes(t, folder)
	require.Equal(t, [2]int{0, 1}, [2]int{alive, all}, "and nothing is started again")
}

func TestServersThatDoNotConnect(t *testing.T) {
	for behaviour, wants := range map[string]struct {
		kind error
		says string
	}{
		"mute":     {host.ErrTimeout, "no answer within"},
		"stubborn": {host.ErrTimeout, "no answer within"},
		"loud":     {mcp.ErrConnection, "the database is on fire"},
	} {
		t.Run(behaviour, func(t *testing.T) {
			c, folder := program(t, behaviour)
			c.Command.StopTime = 20 * time.Millisecond
			if behaviour != "loud" {
				c.ConnectTimeout = 500 * time.Millisecond
			}
			_, err := mcp.Connect(t.Context(), c)
			require.ErrorIs(t, err, wants.kind)
			require.ErrorContains(t, err, wants.says)
			alive, _ := processes(t, folder)
			require.Zero(t, alive)
		})
	}
	_, err := mcp.Connect(t.Context(), mcp.Config{SourceID: "a", Command: &mcp.Command{Path: "/no/such/program"}})
	require.ErrorIs(t, err, mcp.ErrConnection)
	h := httptest.NewServer(http.NotFoundHandler())
	defer h.Close()
	_, err = mcp.Connect(t.Context(), mcp.Config{SourceID: "a", HTTP: &mcp.HTTP{URL: h.URL}, Logger: slog.New(slog.DiscardHandler)})
	require.ErrorIs(t, err, mcp.ErrConnection)
}

func TestHeadersGoNowhereElse(t *testing.T) {
	var stolen atomic.Value
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { stolen.Store(r.Header.Get("X-Key")) }))
	defer other.Close()
	var seen atomic.Value
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Store(r.Header.Get("X-Key"))
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	defer h.Close()
	_, err := mcp.Connect(t.Context(), mcp.Config{
		SourceID: "a", Logger: slog.New(slog.DiscardHandler),
		HTTP: &mcp.HTTP{URL: h.URL, Header: http.Header{"x-key": {"secret"}}},
	})
	require.Error(t, err)
	require.Equal(t, "secret", seen.Load())
	require.Equal(t, "", stolen.Load())
}

func TestConfigsThatAreRefused(t *testing.T) {
	for want, c := range map[string]mcp.Config{
		"source_id":               {Command: &mcp.Command{Path: "a"}},
		"both or none":            {SourceID: "a"},
		"one of command and http": {SourceID: "a", Command: &mcp.Command{Path: "a"}, HTTP: &mcp.HTTP{URL: "http://a"}},
		"path of the program":     {SourceID: "a", Command: &mcp.Command{}},
		"want NAME=value":         {SourceID: "a", Command: &mcp.Command{Path: "a", Env: []string{"A"}}},
		"want a URL":              {SourceID: "a", HTTP: &mcp.HTTP{URL: "file:///a"}},
		"prefix":                  {SourceID: "a", Command: &mcp.Command{Path: "a"}, Prefix: "a b"},
		`approval: "sometimes"`:   {SourceID: "a", Command: &mcp.Command{Path: "a"}, Approval: "sometimes"},
		`approval of "x"`:         {SourceID: "a", Command: &mcp.Command{Path: "a"}, ApprovalOf: map[string]mcp.Approval{"x": ""}},
		"not negative":            {SourceID: "a", Command: &mcp.Command{Path: "a"}, MaxTools: -1},
	} {
		_, err := mcp.Connect(t.Context(), c)
		assert.ErrorContains(t, err, want)
	}
}

func TestManyGoroutines(t *testing.T) {
	local, folder := program(t, "usual")
	for where, c := range map[string]mcp.Config{"program": local, "http": endpoint(t, "usual")} {
		t.Run(where, func(t *testing.T) {
			s := connect(t, c)
			var wg sync.WaitGroup
			for i := range 64 {
				wg.Go(func() {
					tools, err := s.Tools(t.Context())
					if !assert.NoError(t, err) {
						return
					}
					at := slices.IndexFunc(tools, func(tool host.Tool) bool { return tool.Definition().Name == "echo" })
					out, err := tools[at].(host.FunctionTool).Call(t.Context(), jsontext.Value(fmt.Sprintf(`{"text":"%d"}`, i)))
					assert.NoError(t, err)
					assert.Equal(t, fmt.Sprintf(`"{\"text\":\"%d\"}"`, i), string(out))
				})
			}
			wg.Wait()
		})
	}
	_, started := processes(t, folder)
	require.Equal(t, 1, started)
}

// TestManyGoroutinesAfterACrash: however many notice that the program is gone, it is started once.
func TestManyGoroutinesAfterACrash(t *testing.T) {
	c, folder := program(t, "usual")
	s := connect(t, c)
	tools := toolsOf(t, s)
	_, err := tools["crash_write"].Call(t.Context(), nil)
	require.ErrorIs(t, err, mcp.ErrConnection)
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			_, err := tools["lines"].Call(t.Context(), nil)
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	_, started := processes(t, folder)
	require.Equal(t, 2, started)
}
