package wasm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/message"
)

var update = flag.Bool("update", false, "rewrite the transcripts in abi/testdata")

// call is what crossed the border in one call.
type call struct{ in string }

// listen loads the plugin that logs its input, and returns a function that gives the calls since it was last asked.
func listen(t *testing.T, g wasm.Grants) (*wasm.Plugin, func() []call) {
	var calls []call
	p := mustLoad(t, "logs-its-input", wasm.Config{
		SourceID: "news", Config: []byte(`{"city":"Oslo"}`), Grants: g,
		OnLog: func(_, text string) { calls = append(calls, call{text}) },
	})
	return p, func() []call {
		taken := calls
		calls = nil
		return taken
	}
}

// A view holds what was granted, and nothing else. The transcripts of whole calls in abi/testdata are what a plugin
// really receives.
func TestTranscripts(t *testing.T) {
	outputs := map[abi.Hook]string{
		abi.HookInit: `{}`, abi.HookSessionCreated: `{}`, abi.HookRunFailed: `{}`,
		abi.HookBeforeRun: `{"extend_messages":[{"role":"user","text":"Rust 1.95 is out."}],"extend_instructions":["Be brief."],"state":{"runs":1}}`,
		abi.HookAfterRun:  `{"state":{"runs":2}}`,
	}
	record := func(name, comment string, c call) { record(t, name, comment, c.in, outputs) }

	p, calls := listen(t, wasm.Grants{})
	record("init", "init, once at load: config and the rights in force.", calls()[0])

	failing := &failingModel{}
	context := host.BeforeRunFunc("calendar", func(_ context.Context, sc *host.SessionContext) error {
		sc.ExtendMessages(message.User("Lunch at noon."))
		return sc.SetMetadata("topic", "food")
	})
	agent := newAgent(t, failing, context, p)
	session := agent.GetSession("svc-1", "session-1")
	_, err := agent.Run(t.Context(), host.Text("What is new?"), host.RunConfig{Session: session})
	require.NoError(t, err)
	got := calls()
	record("session_created", "session_created, before a session's first run.", got[0])
	record("before_run", "before_run with default rights: nothing of other sources is there.", got[1])
	record("after_run", "after_run with default rights.", got[2])

	failing.err = errors.New("the service is down")
	_, err = agent.Run(t.Context(), host.Text("And now?"), host.RunConfig{Session: session})
	require.Error(t, err)
	record("run_failed", "run_failed, where the model failed.", calls()[1])

	all, calls := listen(t, wasm.Grants{Read: []string{"input", "response", "options", "metadata", "context:*"}})
	_ = calls()
	_, err = newAgent(t, &model{}, context, all).Run(t.Context(), host.Text("What is new?"), host.RunConfig{
		Session: host.NewSession("session-2"), Options: host.Options{Temperature: new(0.5)},
	})
	require.NoError(t, err)
	record("before_run-all-rights", "before_run with every right to read.", calls()[1])

	none, calls := listen(t, wasm.Grants{Read: []string{}})
	_ = calls()
	_, err = newAgent(t, &model{}, context, none).Run(t.Context(), host.Text("What is new?"), host.RunConfig{
		Session: host.NewSession("session-3"),
	})
	require.NoError(t, err)
	got = calls()
	record("before_run-no-rights", "before_run with no right to read: ids, config and state.", got[1])
	require.NotContains(t, got[2].in, `"response"`)
}

// record holds a call against its transcript in abi/testdata, or writes that.
func record(t *testing.T, name, comment, text string, outputs map[abi.Hook]string) {
	t.Run(name, func(t *testing.T) {
		var in abi.In
		require.NoError(t, json.Unmarshal([]byte(text), &in))
		if in.Run != nil {
			text = strings.ReplaceAll(text, in.Run.RunID, "00000000-0000-4000-8000-000000000000")
		}
		archive := &txtar.Archive{Comment: []byte(comment + "\n"), Files: []txtar.File{
			{Name: "in.json", Data: pretty(t, text)}, {Name: "out.json", Data: pretty(t, outputs[in.Hook])},
		}}
		path := filepath.Join("..", "..", "abi", "testdata", name+".txtar")
		if *update {
			require.NoError(t, os.WriteFile(path, txtar.Format(archive), 0o644))
		}
		golden, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(golden), string(txtar.Format(archive)))
	})
}

// failingModel answers until it is told to fail.
type failingModel struct {
	model
	err error
}

func (m *failingModel) Complete(ctx context.Context, r *host.ChatRequest) (*host.Response, error) {
	if m.err != nil {
		return nil, m.err
	}
	response, err := m.model.Complete(ctx, r)
	response.Usage = &host.Usage{InputTokens: 12, OutputTokens: 1}
	return response, err
}

func pretty(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, json.Indent(&b, []byte(text), "", "  "))
	b.WriteByte('\n')
	return b.Bytes()
}
