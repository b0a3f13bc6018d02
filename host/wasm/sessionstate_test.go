package wasm_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/host/wasm/engine"
)

// object is a state of so many bytes.
func object(size int) string {
	return `{"k":"` + strings.Repeat("x", size-len(`{"k":""}`)) + `"}`
}

// keeper is a plugin that keeps a state of so many bytes, and adds an instruction.
func keeper(t *testing.T, sourceID string, size int, limits wasm.Limits) host.Provider {
	t.Helper()
	p, _ := script{"before_run": {out(`{"state":` + object(size) + `,"extend_instructions":["` + sourceID + `"]}`)}}.
		load(t, wasm.Config{SourceID: sourceID, Limits: limits})
	return p
}

// kept is the state of a source; empty where it has none.
func kept(t *testing.T, s *host.Session, sourceID string) string {
	t.Helper()
	bucket := s.Lookup(sourceID)
	if bucket == nil {
		return ""
	}
	raw, err := bucket.Raw()
	require.NoError(t, err)
	return string(raw)
}

func runIn(t *testing.T, s *host.Session, providers ...host.Provider) error {
	t.Helper()
	_, err := newAgent(t, &model{}, providers...).Run(t.Context(), host.Text("hi"), host.RunConfig{Session: s})
	return err
}

func restored(t *testing.T, s *host.Session) *host.Session {
	t.Helper()
	saved, err := s.MarshalJSON()
	require.NoError(t, err)
	again, err := host.RestoreSession(saved)
	require.NoError(t, err)
	return again
}

func TestAPluginCannotKeepMoreThanAllPluginsOfASessionMay(t *testing.T) {
	limits := wasm.Limits{SessionState: 100}
	a, b := keeper(t, "a", 40, limits), keeper(t, "b", 50, limits)
	session := host.NewSession("")
	require.NoError(t, session.State("notes").Set("text", strings.Repeat("x", 1000)), "what is the host's own does not count")
	require.NoError(t, runIn(t, session, a, b))
	require.NoError(t, runIn(t, session, a, b), "what takes the place of as much does not count twice")

	err := runIn(t, session, a, b, keeper(t, "c", 11, limits))
	var size *wasm.SizeError
	require.ErrorAs(t, err, &size)
	require.Equal(t, wasm.SizeError{Limit: "session_state", Value: 100, Seen: 101}, *size)
	require.EqualError(t, err, "provider c: before_run: the state of all plugins in this session has 101 bytes, more than its limit of 100: "+
		"return less, or raise limits.session_state")
	require.Equal(t, object(40)+object(50), kept(t, session, "a")+kept(t, session, "b"))
	require.Contains(t, []string{"", "{}"}, kept(t, session, "c"))

	require.NoError(t, runIn(t, session, keeper(t, "c", 10, limits)))
	require.ErrorAs(t, runIn(t, session, keeper(t, "c", 11, limits)), new(*wasm.SizeError))
	require.Equal(t, object(10), kept(t, session, "c"), "the state before stays")
	require.NoError(t, runIn(t, host.NewSession(""), keeper(t, "c", 11, limits)), "another session has its own limit")
}

func TestNothingOfACallIsAppliedWhoseStateIsTooMuchForTheSession(t *testing.T) {
	limits := wasm.Limits{SessionState: 60}
	c, _ := script{"before_run": {out(`{"state":` + object(30) + `,"extend_instructions":["no"],"metadata":{"m":1}}`)}}.
		load(t, wasm.Config{SourceID: "c", Limits: limits, Grants: all, OnError: host.OnErrorSkip})
	var metadata bool
	m := &model{}
	_, err := newAgent(t, m, keeper(t, "a", 40, limits), c, host.BeforeRunFunc("native", func(_ context.Context, sc *host.SessionContext) (err error) {
		metadata, err = sc.Metadata("m", new(int))
		return err
	})).Run(t.Context(), host.Text("hi"), host.RunConfig{Session: host.NewSession("")})
	require.NoError(t, err)
	require.Equal(t, "a", m.requests[0].Instructions)
	require.False(t, metadata)
}

func TestStateThatWasRestoredCountsWhicheverPluginsRun(t *testing.T) {
	limits := wasm.Limits{SessionState: 100}
	session := host.NewSession("")
	require.NoError(t, session.State("notes").Set("text", strings.Repeat("x", 1000)))
	require.NoError(t, runIn(t, session, keeper(t, "a", 40, limits), keeper(t, "b", 50, limits)))
	for range 2 {
		session = restored(t, session)
		require.ErrorAs(t, runIn(t, session, keeper(t, "c", 11, limits)), new(*wasm.SizeError))
		require.NoError(t, runIn(t, session, keeper(t, "c", 10, limits)))
		require.NoError(t, runIn(t, session, keeper(t, "c", 9, limits)))
	}
	require.ErrorAs(t, runIn(t, session, keeper(t, "a", 42, limits)), new(*wasm.SizeError))
	require.NoError(t, runIn(t, session, keeper(t, "a", 41, limits)))
}

func TestWhereThereIsTooMuchAlreadyAPluginMayKeepLess(t *testing.T) {
	session := host.NewSession("")
	require.NoError(t, runIn(t, session, keeper(t, "a", 40, wasm.Limits{}), keeper(t, "b", 50, wasm.Limits{})))
	limits := wasm.Limits{SessionState: 20}
	require.NoError(t, runIn(t, session, keeper(t, "a", 40, limits)))
	require.NoError(t, runIn(t, session, keeper(t, "a", 30, limits)))
	require.ErrorAs(t, runIn(t, session, keeper(t, "a", 31, limits)), new(*wasm.SizeError))
	require.NoError(t, runIn(t, session, keeper(t, "b", 10, wasm.Limits{SessionState: engine.Unlimited})))
	require.ErrorAs(t, runIn(t, session, keeper(t, "a", 31, limits)), new(*wasm.SizeError))
	require.NoError(t, runIn(t, session, keeper(t, "a", 9, limits)))
	require.NoError(t, runIn(t, session, keeper(t, "a", 10, limits)))
}

func TestASessionHoldsAMiBOfStateUnlessItIsUnlimited(t *testing.T) {
	session := host.NewSession("")
	full := func() *host.Session {
		require.NoError(t, session.State("a").Replace([]byte(object(1<<20))))
		return session
	}
	reads, _ := script{"before_run": {out(`{}`)}}.load(t, wasm.Config{SourceID: "a"})
	var size *wasm.SizeError
	require.ErrorAs(t, runIn(t, full(), reads, keeper(t, "b", 10, wasm.Limits{})), &size)
	require.Equal(t, wasm.SizeError{Limit: "session_state", Value: 1 << 20, Seen: 1<<20 + 10}, *size)
	require.NoError(t, runIn(t, full(), reads, keeper(t, "b", 10, wasm.Limits{SessionState: engine.Unlimited})))
}

func TestCallNextSaysThatTheStateIsTooMuchForTheSession(t *testing.T) {
	limits := wasm.Limits{SessionState: 60}
	p, heard := script{"process": {next(`{"state":` + object(30) + `}`), next(`{"state":` + object(20) + `}`), out(`{}`)}}.
		load(t, wasm.Config{SourceID: "w", Limits: limits, Grants: all})
	session := host.NewSession("")
	require.NoError(t, runIn(t, session, keeper(t, "a", 40, limits), p))
	require.Contains(t, heard.all()[0], `"code":"limit"`)
	require.Contains(t, heard.all()[0], "limits.session_state")
	require.Equal(t, object(20), kept(t, session, "w"))
}

// Whether plugins run at the same time, and how many runs of the session do, their state is within the limit, and the first
// that came have it.
func TestTheLimitOfASessionsStateHoldsWhateverRunsAtOnce(t *testing.T) {
	const plugins, size, limit = 8, 30, 160
	providers := make([]host.Provider, plugins)
	for i := range providers {
		p, _ := script{"before_run": {out(`{"state":` + object(size) + `}`)}, "after_run": {out(`{"state":` + object(size+1) + `}`)}}.
			load(t, wasm.Config{SourceID: fmt.Sprint("p", i), Limits: wasm.Limits{SessionState: limit}, OnError: host.OnErrorSkip})
		providers[i] = p
	}
	for _, sequential := range []bool{true, false} {
		agent, err := host.NewAgent(host.AgentConfig{
			Client: answering{}, Providers: providers, SequentialBeforeRun: sequential, Logger: slog.New(slog.DiscardHandler),
		})
		require.NoError(t, err)
		session := host.NewSession("")
		var runs sync.WaitGroup
		for range 6 {
			runs.Go(func() {
				for range 3 {
					_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
					assert.NoError(t, err)
				}
			})
		}
		runs.Wait()
		sum, have := 0, 0
		for i := range plugins {
			if state := kept(t, session, fmt.Sprint("p", i)); len(state) > len("{}") {
				sum += len(state)
				have++
			}
		}
		require.Equal(t, limit/size, have)
		require.LessOrEqual(t, sum, limit)

		session = restored(t, session)
		require.ErrorAs(t, runIn(t, session, keeper(t, "last", max(8, limit-sum+1), wasm.Limits{SessionState: limit})), new(*wasm.SizeError))
	}
}

// answering answers many runs at once.
type answering struct{ *model }

func (answering) Complete(context.Context, *host.ChatRequest) (*host.Response, error) {
	return host.NewResponse("ok"), nil
}
