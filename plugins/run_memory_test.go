package plugins

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/index"
	"github.com/weft-run/weft/host/kv"
	"github.com/weft-run/weft/host/model/offline"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/message"
)

// listener is a model that writes down what users say of themselves, as it is told to.
func listener() *scripted {
	return &scripted{answer: func(r *host.ChatRequest) string {
		turn := message.JoinText(r.Messages)
		switch {
		case strings.Contains(turn, "user: I live in Paris"):
			return "Here they are:\n```json\n[\"Ada lives in Paris.\", \"Ada has a cat named Zip.\"]\n```"
		case strings.Contains(turn, "user: I live in Oslo"):
			return `["Bob lives in Oslo."]`
		}
		return "[]"
	}}
}

// forgetful is a model that calls forget once where the user says so, with what follows.
type forgetful struct{ scripted }

func (m *forgetful) Complete(ctx context.Context, r *host.ChatRequest) (*host.Response, error) {
	last := r.Messages[len(r.Messages)-1]
	if text, ok := strings.CutPrefix(last.Text(), "Forget: "); ok {
		call := message.FunctionCall{CallID: "1", Name: "forget", Arguments: []byte(`{"text":"` + text + `"}`)}
		return &host.Response{Messages: []*message.Message{message.New(message.RoleAssistant, call)}}, nil
	}
	return m.scripted.Complete(ctx, r)
}

// memories is a host in which several users' agents share storage and index.
type memories struct {
	services wasm.Services

	mu   sync.Mutex
	logs []string
}

func newMemories(t *testing.T, model host.ChatClient) *memories {
	t.Helper()
	documents, err := index.Open(t.Context(), "", index.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, documents.Close()) })
	return &memories{services: wasm.Services{
		Model: model, Embedder: offline.New(offline.Config{}), KV: kv.NewMemory(kv.Options{}),
		Indexes: map[string]*index.Index{"memory": documents},
	}}
}

// agent is an agent with the plugin, and the model that it asks.
func (m *memories) agent(t *testing.T, config string, grants wasm.Grants) (*host.Agent, *forgetful) {
	t.Helper()
	grants.KV, grants.Complete = []string{"agent"}, &abi.Budget{Calls: 1, Tokens: 8000}
	model := &forgetful{scripted{answer: func(*host.ChatRequest) string { return "I see." }}}
	memory := shipped(t, "memory", wasm.Config{
		Config: []byte(config), Services: m.services, Grants: grants,
		Now: func() time.Time { return time.Date(2026, 11, 21, 10, 42, 0, 0, time.UTC) },
		OnLog: func(level, text string) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.logs = append(m.logs, level+" "+text)
		},
	})
	agent, err := host.NewAgent(host.AgentConfig{Name: "guide", Client: model, Providers: []host.Provider{memory}})
	require.NoError(t, err)
	return agent, model
}

// ask is one run in a session of its own. It returns what the model was sent.
func ask(t *testing.T, agent *host.Agent, model *forgetful, text string) string {
	t.Helper()
	_, err := agent.Run(t.Context(), host.Text(text), host.RunConfig{Session: agent.CreateSession("")})
	require.NoError(t, err)
	return message.JoinText(model.requests[len(model.requests)-1].Messages)
}

func searching() wasm.Grants {
	return wasm.Grants{Search: []abi.SearchGrant{{Index: "memory", Mode: "rw"}}}
}

func embedding() wasm.Grants { return wasm.Grants{Embed: &abi.Budget{Calls: 2, Tokens: 8000}} }

const (
	remembered = "What is remembered of earlier conversations (may be outdated):\n"
	ofParis    = "- (2026-11-21) Ada lives in Paris."
)

func TestWhatIsToldInOneSessionIsKnownInTheNext(t *testing.T) {
	for find, grants := range map[string]wasm.Grants{"search": searching(), "embed": embedding()} {
		t.Run(find, func(t *testing.T) {
			m := newMemories(t, listener())
			agent, model := m.agent(t, `{"find":"`+find+`","max_added":1}`, grants)
			require.Equal(t, "I live in Paris with Zip, my cat", ask(t, agent, model, "I live in Paris with Zip, my cat"))
			require.Equal(t, remembered+ofParis+"Who lives in Paris?", ask(t, agent, model, "Who lives in Paris?"))
			require.Equal(t, remembered+"- (2026-11-21) Ada has a cat named Zip.What is my cat named?", ask(t, agent, model, "What is my cat named?"))
			require.Empty(t, m.logs)
		})
	}
}

func TestUsersNeverSeeEachOthersMemories(t *testing.T) {
	m := newMemories(t, listener())
	ada, adasModel := m.agent(t, `{"user":"ada"}`, searching())
	bob, bobsModel := m.agent(t, `{"user":"bob"}`, searching())
	ask(t, ada, adasModel, "I live in Paris")
	ask(t, bob, bobsModel, "I live in Oslo")
	const question = "Who lives in Paris, and who in Oslo?"
	have := ask(t, ada, adasModel, question)
	require.Contains(t, have, ofParis)
	require.NotContains(t, have, "Bob")
	require.Equal(t, remembered+"- (2026-11-21) Bob lives in Oslo."+question, ask(t, bob, bobsModel, question))
}

func TestWhatIsForgottenIsNotRemembered(t *testing.T) {
	m := newMemories(t, listener())
	grants := searching()
	grants.Add = []string{"messages", "instructions", "tools"}
	agent, model := m.agent(t, `{"tool":true}`, grants)
	ask(t, agent, model, "I live in Paris")
	require.Contains(t, ask(t, agent, model, "Who lives in Paris?"), ofParis)
	r, err := agent.Run(t.Context(), host.Text("Forget: Ada lives in Paris"), host.RunConfig{})
	require.NoError(t, err)
	var results []string
	for _, m := range r.Messages {
		for _, c := range m.Contents {
			if result, ok := c.(message.FunctionResult); ok {
				results = append(results, string(result.Result))
			}
		}
	}
	require.Equal(t, []string{`"Deleted:\n- Ada lives in Paris."`}, results)
	require.Equal(t, "Who lives in Paris?", ask(t, agent, model, "Who lives in Paris?"))
	require.Contains(t, ask(t, agent, model, "What is my cat named?"), "Zip")
	left, err := m.services.Indexes["memory"].Count(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, left)
}

// The offline model quotes instead of writing JSON; a model that fails is no reason for a run to.
func TestRubbishOfAModelIsNotRemembered(t *testing.T) {
	m := newMemories(t, offline.New(offline.Config{}))
	agent, model := m.agent(t, `{}`, searching())
	ask(t, agent, model, "I live in Paris")
	require.Equal(t, "Who lives in Paris?", ask(t, agent, model, "Who lives in Paris?"))
	require.Len(t, m.logs, 2)
	require.Regexp(t, "^debug nothing is remembered: the model was asked for a JSON array", m.logs[0])
	left, err := m.services.Indexes["memory"].Count(t.Context())
	require.NoError(t, err)
	require.Zero(t, left)
}
