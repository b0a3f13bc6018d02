package wasm_test

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
)

// A guest of Extism's own PDK runs unmodified: input, output, errors, logs and variables mean what they mean there.
func TestGuestOfTheExtismGoPDK(t *testing.T) {
	out := filepath.Join(t.TempDir(), "extism.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", out, ".")
	cmd.Dir = filepath.Join("testdata", "extism-go-pdk")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, string(text))

	var logged []string
	p, err := wasm.Load(t.Context(), newEngine(t), wasm.Config{
		Path: out, OnLog: func(level, text string) { logged = append(logged, level+" "+text) },
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, p.Close(t.Context())) }()
	require.Equal(t, "extism", p.SourceID())
	require.True(t, p.Info().GoGuest)

	m := &model{}
	agent := newAgent(t, m, p)
	session := agent.CreateSession("")
	for range 2 {
		_, err = agent.Run(t.Context(), host.Text("hello"), host.RunConfig{Session: session})
		require.NoError(t, err)
	}
	require.Equal(t, "heard: hello", m.requests[1].Messages[0].Text())
	state, err := session.State("extism").Raw()
	require.NoError(t, err)
	require.Equal(t, `{"vars_seen":0}`, string(state), "variables are the call's, and no session sees another's")
	require.Equal(t, []string{"info heard hello", "info heard hello"}, logged)

	_, err = agent.Run(t.Context(), host.Text("fail"), host.RunConfig{Session: session})
	require.EqualError(t, err, "provider extism: before_run: asked to fail")
}

// Many runs of many sessions on one plugin at once: each call is clean, and no instance is left over.
func TestManyRunsOnOnePlugin(t *testing.T) {
	p := mustLoad(t, "counts-its-calls", wasm.Config{Limits: wasm.Limits{Instances: 8}, Logger: slog.New(slog.DiscardHandler)})
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			m := &model{}
			agent := newAgent(t, m, p)
			for range 20 {
				if _, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: agent.CreateSession("")}); err != nil {
					t.Error(err)
					return
				}
			}
			for _, r := range m.requests {
				if r.Instructions != "2" {
					t.Errorf("a call found what another left: %s", r.Instructions)
					return
				}
			}
		})
	}
	wg.Wait()
	stats := p.Stats()
	require.LessOrEqual(t, stats.Live, 8)
	require.Equal(t, stats.Live, stats.Idle)
	require.Zero(t, stats.Waiting)
}
