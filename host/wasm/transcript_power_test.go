package wasm_test

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/message"
)

// What process, on_update, the hooks of the loop, tools and migrate_state really receive, as transcripts.
func TestTranscriptsOfLayersAndTools(t *testing.T) {
	outputs := map[abi.Hook]string{
		abi.HookBeforeRun:       `{"extend_tools":[{"name":"add","parameters":{"type":"object"},"data":{"unit":"kg"}}]}`,
		abi.HookCallTool:        `{"result":{"sum":3}}`,
		abi.HookBeforeIteration: `{}`,
		abi.HookBeforeTools:     `{}`,
		abi.HookBeforeFunction:  `{}`,
		abi.HookAfterFunction:   `{"result":{"sum":3,"unit":"kg"}}`,
		abi.HookAfterIteration:  `{"state":{"calls":1}}`,
		abi.HookMigrateState:    `{"state":{"calls":0}}`,
		abi.HookOnUpdate:        `{"carry":{"seen":1}}`,
		abi.HookProcess:         `{}`,
	}
	hooks := script{"describe": {out(`{"state_version":2}`)}}
	for _, h := range abi.ProviderHooks {
		if text := outputs[h]; text != "" && h != abi.HookProcess {
			hooks[string(h)] = []step{hears(), out(text)}
		}
	}
	for _, h := range []abi.Hook{abi.HookCallTool, abi.HookMigrateState} {
		hooks[string(h)] = []step{hears(), out(outputs[h])}
	}
	provider, heard := hooks.load(t, wasm.Config{SourceID: "sums", Grants: all, Config: []byte(`{"unit":"kg"}`)})
	agent, err := host.NewAgent(host.AgentConfig{Name: "guide", Client: &callsAdd{}, Providers: []host.Provider{provider}})
	require.NoError(t, err)
	session := agent.GetSession("", "session-1")
	require.NoError(t, session.State("sums").Replace([]byte(`{"n":1}`)))
	_, err = agent.Run(t.Context(), host.Text("1 + 2?"), host.RunConfig{Session: session})
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, line := range heard.all() {
		var in struct{ Hook string }
		require.NoError(t, json.Unmarshal([]byte(line), &in))
		if in.Hook != "before_run" && !seen[in.Hook] {
			record(t, in.Hook, in.Hook+", with every right.", line, outputs)
		}
		seen[in.Hook] = true
	}
	require.Len(t, seen, 8)

	for _, layer := range abi.Layers {
		s := script{"process": {hears(), next(`{}`), out(`{}`)}}
		if layer == abi.LayerChat {
			s["on_update"] = []step{hears(), out(outputs[abi.HookOnUpdate])}
		}
		c := wasm.Config{SourceID: "audit", Grants: all}
		var p *wasm.Plugin
		var m host.Middleware
		var heard *answers
		providers := []host.Provider{provider}
		if layer == abi.LayerContext {
			p, heard = s.load(t, c)
			providers = append(providers, p)
		} else {
			p, heard = around(t, s, layer, c)
			m = p.ForLayer()
		}
		agent := agentWith(t, &callsAdd{}, m, providers...)
		stream := agent.Stream(t.Context(), host.Text("1 + 2?"), host.RunConfig{
			Session: agent.GetSession("", "session-2"), Options: host.Options{Temperature: new(0.5)},
		})
		_, err := stream.Response()
		require.NoError(t, err)
		lines := heard.all()
		record(t, "process-"+string(layer), "process at the layer "+string(layer)+", with every right.", lines[0], outputs)
		if layer == abi.LayerChat {
			i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, `"hook":"on_update"`) })
			record(t, "on_update", "on_update at the layer chat, for the first update.", lines[i], outputs)
		}
	}
}

// callsAdd calls the tool once, and then answers.
type callsAdd struct{}

func (callsAdd) Complete(_ context.Context, r *host.ChatRequest) (*host.Response, error) {
	usage := &host.Usage{InputTokens: 10, OutputTokens: 2}
	if last := r.Messages[len(r.Messages)-1]; last.Role == message.RoleTool {
		r := host.NewResponse("3")
		r.Usage = usage
		return r, nil
	}
	call := message.FunctionCall{CallID: "call-1", Name: "add", Arguments: []byte(`{"a":1,"b":2}`)}
	return &host.Response{Messages: []*message.Message{message.New(message.RoleAssistant, call)}, Usage: usage}, nil
}

func (m callsAdd) Stream(ctx context.Context, r *host.ChatRequest) iter.Seq2[*host.Update, error] {
	return func(yield func(*host.Update, error) bool) {
		response, err := m.Complete(ctx, r)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, m := range response.Messages {
			if !yield(&host.Update{Role: m.Role, Contents: m.Contents, Usage: response.Usage}, nil) {
				return
			}
		}
	}
}
