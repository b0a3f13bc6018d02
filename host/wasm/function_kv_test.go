package wasm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/kv"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/host/wasm/engine"
)

// scopes are the rights to store keys.
var scopes = wasm.Grants{KV: []string{"session", "agent"}}

func TestAPluginKeepsValuesUnderKeys(t *testing.T) {
	require.Equal(t, []string{
		`{"found":false}`, `{"version":1}`, `{"found":true,"value":{"n": 1.50},"version":1}`, `{"version":2}`,
		`{"entries":[{"key":"a","value":{"n": 1.50},"version":1},{"key":"b","value":null,"version":2}],"more":false}`,
		`{"entries":[{"key":"a","version":1}],"more":true}`, `{"entries":[{"key":"b","version":2}],"more":false}`,
		`{"entries":[],"more":false}`, `{"deleted":true}`, `{"deleted":false}`,
	}, asked(t, wasm.Config{Grants: scopes}, []step{
		{"kv_get", `{"scope":"agent","key":"a"}`},
		{"kv_set", `{"scope":"agent","key":"a","value":{"n": 1.50}}`},
		{"kv_get", `{"scope":"agent","key":"a"}`},
		{"kv_set", `{"scope":"agent","key":"b","value":null}`},
		{"kv_list", `{"scope":"agent","values":true}`},
		{"kv_list", `{"scope":"agent","limit":1}`},
		{"kv_list", `{"scope":"agent","after":"a"}`},
		{"kv_list", `{"scope":"session"}`},
		{"kv_delete", `{"scope":"agent","key":"a"}`},
		{"kv_delete", `{"scope":"agent","key":"a"}`},
	}))
}

func TestAWriteForAVersionThatIsGoneIsAConflict(t *testing.T) {
	answers := asked(t, wasm.Config{Grants: scopes}, []step{
		{"kv_set", `{"scope":"agent","key":"a","value":1,"if_version":0}`},
		{"kv_set", `{"scope":"agent","key":"a","value":2,"if_version":0}`},
		{"kv_set", `{"scope":"agent","key":"a","value":3,"if_version":1}`},
		{"kv_delete", `{"scope":"agent","key":"a","if_version":1}`},
		{"kv_get", `{"scope":"agent","key":"a"}`},
	})
	require.Equal(t, `{"version":1}`, answers[0])
	require.Contains(t, answers[1], `{"error":{"code":"conflict","message":"kv_set: key \"a\": no entry was wanted, and version 1 is there`)
	require.Equal(t, `{"version":2}`, answers[2])
	require.Contains(t, answers[3], `"code":"conflict","message":"kv_delete: key \"a\": version 1 was wanted, and version 2 is there`)
	require.Contains(t, answers[4], `"value":3`)
}

func TestStorageNeedsItsRightAndKeepsItsLimits(t *testing.T) {
	one := wasm.Config{Grants: wasm.Grants{KV: []string{"session"}}, Limits: wasm.Limits{KVValue: 10, KVTotal: 20, KVKeys: 2}}
	set := func(key, value string) step {
		return step{"kv_set", fmt.Sprintf(`{"scope":"session","key":%q,"value":%q}`, key, value)}
	}
	answers := asked(t, one, []step{
		{"kv_get", `{"scope":"agent","key":"a"}`},
		{"kv_set", `{"scope":"agent","key":"a","value":1}`},
		{"kv_delete", `{"scope":"agent","key":"a"}`},
		{"kv_list", `{"scope":"agent"}`},
	})
	for _, answer := range answers {
		require.Contains(t, answer, `"code":"denied"`)
		require.Contains(t, answer, `in the scope agent is not granted to this plugin: if it should be, add to its entry grant: {kv: [session, agent]}`)
	}
	answers = asked(t, one, []step{
		set("a", "123456789"), set("a", "1234567"), set("b", "1234567"), set("b", "12345678"), set("b", "1"), set("c", "1"),
		set("", "1"),
		{"kv_get", `{"scope":"session","key":"` + strings.Repeat("k", 513) + `"}`},
		{"kv_list", `{"scope":"session","prefix":"a\u0000"}`},
	})
	require.Contains(t, answers[0], `"code":"limit","message":"kv_set: the value is 11 bytes, and may be 10 bytes: raise limits.kv_value`)
	require.Equal(t, `{"version":1}`, answers[1])
	require.Equal(t, `{"version":2}`, answers[2])
	require.Contains(t, answers[3], `"code":"limit"`)
	require.Contains(t, answers[3], "raise limits.kv_total")
	require.Equal(t, `{"version":3}`, answers[4])
	require.Contains(t, answers[5], "raise limits.kv_keys")
	for _, i := range []int{6, 7, 8} {
		require.Contains(t, answers[i], `"code":"invalid_input"`)
	}
}

// trickyKeys are names that paths, patterns, SQL or Unicode could take for others.
var trickyKeys = []string{
	"../other/k", "k/../k", "/etc/passwd", `..\k`, "k%00", "k'; DROP TABLE entries; --", "*", "k%", "_", "k\u0301", "\u212a", "K", "q:k", `{"scope":"agent"}`, " k", "k ",
}

// Keys of one plugin, session and agent are nobody else's, whatever they are called.
func TestKeysBelongToOnePluginSessionAndAgent(t *testing.T) {
	store := kv.NewMemory(kv.Options{})
	defer store.Close()
	var writes, reads []step
	for _, scope := range []string{"session", "agent"} {
		for _, key := range trickyKeys {
			quoted, err := json.Marshal(key)
			require.NoError(t, err)
			writes = append(writes, step{"kv_set", fmt.Sprintf(`{"scope":%q,"key":%s,"value":"the canary"}`, scope, quoted)})
			reads = append(reads, step{"kv_get", fmt.Sprintf(`{"scope":%q,"key":%s}`, scope, quoted)})
		}
		reads = append(reads, step{"kv_list", fmt.Sprintf(`{"scope":%q,"values":true}`, scope)})
	}
	steps := append(append(reads, writes...), out(`{}`))
	c := wasm.Config{Grants: scopes, Services: wasm.Services{KV: store}, Limits: wasm.Limits{LogLines: engine.Unlimited}}
	run := func(sourceID, agent, session string) string {
		c.SourceID = sourceID
		p, heard := script{"before_run": steps}.load(t, c)
		a, err := host.NewAgent(host.AgentConfig{Name: agent, Client: &model{}, Providers: []host.Provider{p}})
		require.NoError(t, err)
		_, err = a.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: a.CreateSession(session)})
		require.NoError(t, err)
		for _, answer := range heard.all()[len(reads):] {
			require.Contains(t, answer, `{"version":`)
		}
		return strings.Join(heard.all()[:len(reads)], "\n")
	}
	require.NotContains(t, run("p", "guide", "s"), "canary")
	again := run("p", "guide", "s")
	require.Equal(t, 4*len(trickyKeys), strings.Count(again, "the canary"), "its own keys are all there, each once in each list")

	for _, other := range [][3]string{
		{"q", "guide", "s"}, {"p/", "guide", "s"}, {"P", "guide", "s"}, {"p", "Guide", "s"}, {"p", "guide/", "s"}, {"guide", "p", "s"}, {"p", "", "s"},
	} {
		require.NotContains(t, run(other[0], other[1], other[2]), "canary", "%v", other)
	}
	for _, session := range []string{"S", "s/../s", "t", "s\x00"} {
		seen := strings.Split(run("p", "guide", session), "\n")
		require.NotContains(t, strings.Join(seen[:len(trickyKeys)+1], "\n"), "canary", "session %q", session)
		require.Contains(t, strings.Join(seen[len(trickyKeys)+1:], "\n"), "canary", "the agent's keys are those of all its sessions")
	}
}

func TestARunWithoutASessionHasNoScopeSession(t *testing.T) {
	get := step{"kv_get", `{"scope":"session","key":"a"}`}
	p, heard := script{"before_run": {get, out(`{}`)}}.load(t, wasm.Config{Grants: scopes})
	g := all
	g.KV = scopes.KV
	q, inside := around(t, script{"process": {get, next(``), out(`{}`)}}, abi.LayerChat, wasm.Config{Grants: g})
	agent := agentWith(t, &model{}, q.ForLayer(), p)
	for _, session := range []*host.Session{nil, agent.CreateSession("s")} {
		_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
		require.NoError(t, err)
	}
	want := `{"error":{"code":"not_found","message":"kv_get: the run has no session, and so no scope session: use the scope agent"}}`
	require.Equal(t, []string{want, `{"found":false}`}, heard.all())
	require.Equal(t, []string{want, `{"found":false}`}, []string{inside.all()[0], inside.all()[2]})
}

func TestKeysOfAnAgentOutliveTheRunAndTheVersion(t *testing.T) {
	steps := script{"before_run": {{"kv_get", `{"scope":"agent","key":"a"}`}, {"kv_set", `{"scope":"agent","key":"a","value":1}`}, out(`{}`)}}
	p, heard := steps.load(t, wasm.Config{Grants: scopes, Logger: slog.New(slog.DiscardHandler)})
	agent := newAgent(t, &model{}, p)
	for _, change := range []func(context.Context) error{p.Restart, func(ctx context.Context) error {
		return p.Replace(ctx, wasm.Config{Module: steps.module(t), SourceID: "p", Grants: scopes, OnLog: heard.log, Logger: slog.New(slog.DiscardHandler)})
	}, p.Restart} {
		_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.NoError(t, err)
		require.NoError(t, change(t.Context()))
	}
	require.Equal(t, `{"found":false}`, heard.all()[0])
	require.Equal(t, `{"found":true,"value":1,"version":1}`, heard.all()[2])
	require.Equal(t, `{"found":true,"value":1,"version":2}`, heard.all()[4])
}

// 32 sessions at once write to one key, each on what it read: nothing of it is lost.
func TestNoWriteOfManyRunsIsLost(t *testing.T) {
	const runs, each = 32, 10
	store := &countingStore{Store: kv.NewMemory(kv.Options{})}
	defer store.Close()
	p := mustLoad(t, "adds-one", wasm.Config{Grants: scopes, Services: wasm.Services{KV: store}})
	var wg sync.WaitGroup
	for range runs {
		wg.Go(func() {
			agent := newAgent(t, &model{}, p)
			for range each {
				if _, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: agent.CreateSession("")}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	entry, found, err := store.Get(t.Context(), kv.Namespace{Agent: "guide", Plugin: "p", Scope: kv.ScopeAgent}, "n")
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, `"`+strings.Repeat("x", runs*each)+`"`, string(entry.Value))
	require.Positive(t, store.conflicts.Load(), "somebody was between")
}

// countingStore counts conflicts, and gives others time to come between a reading and a writing.
type countingStore struct {
	kv.Store
	conflicts atomic.Int64
}

func (s *countingStore) Get(ctx context.Context, ns kv.Namespace, key string) (kv.Entry, bool, error) {
	defer runtime.Gosched()
	return s.Store.Get(ctx, ns, key)
}

func (s *countingStore) Set(ctx context.Context, ns kv.Namespace, key string, value jsontext.Value, o kv.SetOptions) (int64, error) {
	version, err := s.Store.Set(ctx, ns, key, value, o)
	if errors.Is(err, kv.ErrConflict) {
		s.conflicts.Add(1)
	}
	return version, err
}

// brokenStore fails with what no plugin should read.
type brokenStore struct{ kv.Store }

func (brokenStore) Get(context.Context, kv.Namespace, string) (kv.Entry, bool, error) {
	return kv.Entry{}, false, fmt.Errorf("open /var/lib/weft/keys.db: disk full")
}

func (brokenStore) Set(ctx context.Context, _ kv.Namespace, _ string, _ jsontext.Value, _ kv.SetOptions) (int64, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

func TestAStoreThatFailsIsUnavailableAndItsErrorStaysInTheLog(t *testing.T) {
	var log lockedBuffer
	answer := asked(t, wasm.Config{Grants: scopes, Services: wasm.Services{KV: brokenStore{}}, Logger: log.logger()},
		[]step{{"kv_get", `{"scope":"agent","key":"a"}`}})[0]
	require.Equal(t, `{"error":{"code":"unavailable","message":"kv_get: the store of keys failed; the host's log says why"}}`, answer)
	require.Contains(t, log.String(), "disk full")
	require.Contains(t, log.String(), "function=kv_get")
}

func TestAStoreThatHangsEndsWithTheRun(t *testing.T) {
	var log lockedBuffer
	c := wasm.Config{Grants: scopes, Services: wasm.Services{KV: brokenStore{}}, OnError: host.OnErrorSkip, Logger: log.logger()}
	p, heard := script{"before_run": {{"kv_set", `{"scope":"agent","key":"a","value":1}`}, out(`{}`)}}.load(t, c)
	endsWithTheRun(t, p, heard)
	require.NotContains(t, log.String(), "a host function failed", "nobody is at fault")
}
