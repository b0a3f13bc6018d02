package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

func TestSessionSurvivesJSONByteForByte(t *testing.T) {
	text := `{"type":"session","session_id":"s","service_session_id":"svc","state":{` +
		`"mine":{"big":12345678901234567890123,"exact":1.10,"exp":1E+2,"esc":"\u00e4\/","n":null,"html":"<&>"},` +
		`"unknown_plugin":{ "spaced" : [ 1 , 2 ] },` +
		`"in_memory":{"messages":[{"role":"user","contents":[{"type":"text","text":"ä"},{"type":"later","x":{"y":1.0}}]}]}}}`
	session, err := host.RestoreSession([]byte(text))
	require.NoError(t, err)
	require.Equal(t, "s", session.ID())
	require.Equal(t, "svc", session.ServiceSessionID())
	again, err := session.MarshalJSON()
	require.NoError(t, err)
	require.Equal(t, text, string(again))

	var exact float64
	ok, err := session.State("mine").Get("exact", &exact)
	require.NoError(t, err)
	require.True(t, ok)
	again, err = session.MarshalJSON()
	require.NoError(t, err)
	require.Equal(t, text, string(again), "reading changes nothing")

	require.NoError(t, session.State("mine").Set("more", 1))
	again, err = session.MarshalJSON()
	require.NoError(t, err)
	require.Contains(t, string(again), `"big":12345678901234567890123,"exact":1.10,"exp":1E+2,"esc":"\u00e4\/","n":null,"html":"<&>","more":1}`)
}

func TestHistoryGoesOnAfterARestore(t *testing.T) {
	agent := newAgent(t, host.AgentConfig{})
	session := agent.CreateSession("s")
	for i, want := range []string{"one", "one one two", "one one two one one two three"} {
		input := strings.Fields("one two three")[i]
		r, err := agent.Run(t.Context(), host.Text(input), host.RunConfig{Session: session})
		require.NoError(t, err)
		require.Equal(t, want, r.Text())
		saved, err := session.MarshalJSON()
		require.NoError(t, err)
		session, err = host.RestoreSession(saved)
		require.NoError(t, err)
		again, err := session.MarshalJSON()
		require.NoError(t, err)
		require.Equal(t, string(saved), string(again))
	}
}

func TestRestoreRefusesWhatIsNoSession(t *testing.T) {
	for text, want := range map[string]string{
		``:                                   "not a session",
		`{"type":"session","session_id":"s"`: "not a session: not valid JSON",
		`[]`:                                 "an object was wanted, and an array is there",
		`{"type":"agent","session_id":"s"}`:  `"type" must be "session", not "agent"`,
		`{"type":"session","state":{}}`:      `"session_id" is missing`,
		`{"type":"session","session_id":7}`:  "at /session_id: a string was wanted, and a number is there",
		`{"type":"session","session_id":"s","state":{"a":[]}}`:        "at /state/a: an object was wanted, and an array is there",
		`{"type":"session","session_id":"s","state":{"a":{},"a":{}}}`: "duplicate",
		`{"type":"session","session_id":"s"} {}`:                      "more JSON follows",
		`{"type":"session","format":2,"session_id":"s"}`:              "written by a newer version (format 2; this one reads up to 1)",
		`{"type":"session","session_id":"s","tenant":"x"}`:            `members that this version does not know and would lose: ["tenant"]`,
		"{\"type\":\"session\",\"session_id\":\"\xff\"}":              "invalid UTF-8",
	} {
		_, err := host.RestoreSession([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
}

func TestStateRefusesWhatJSONCannotHold(t *testing.T) {
	state := host.NewSession("").State("a")
	require.ErrorContains(t, state.Set("f", math.NaN()), `state "f" cannot be kept as JSON`)
	require.ErrorContains(t, state.Set("c", make(chan int)), `state "c" cannot be kept as JSON`)
	require.ErrorContains(t, state.Replace([]byte(`[1]`)), "one JSON object")
	require.ErrorContains(t, state.Replace([]byte(`{"a":1} x`)), "one JSON object")
	require.ErrorContains(t, state.Replace([]byte(`{"a":1,"a":2}`)), "duplicate")
	raw, err := state.Raw()
	require.NoError(t, err)
	require.Equal(t, "{}", string(raw), "what was refused changed nothing")

	require.NoError(t, state.Set("a", 1))
	require.NoError(t, state.Set("b", []string{"x"}))
	require.NoError(t, state.Delete("a"))
	raw, err = state.Raw()
	require.NoError(t, err)
	require.Equal(t, `{"b":["x"]}`, string(raw))
}

func TestStoredMessagesAreCopies(t *testing.T) {
	agent := newAgent(t, host.AgentConfig{})
	session := agent.CreateSession("")
	input := host.Text("one")
	input[0].Attribution = "important"
	r, err := agent.Run(t.Context(), input, host.RunConfig{Session: session})
	require.NoError(t, err)
	input[0].Contents[0] = message.Text{Text: "changed"}
	r.Messages[0].Contents[0] = message.Text{Text: "changed"}
	saved, err := session.MarshalJSON()
	require.NoError(t, err)
	require.NotContains(t, string(saved), "changed")
	require.NotContains(t, string(saved), "important", "the author's marks are stripped")
}

// A store of one's own is two methods.
type listStore struct {
	mu   sync.Mutex
	kept map[string][]*message.Message
}

func (s *listStore) GetMessages(_ context.Context, id string, _ *host.State) ([]*message.Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept[id], nil
}

func (s *listStore) SaveMessages(_ context.Context, id string, _ *host.State, messages []*message.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[id] = append(s.kept[id], messages...)
	return nil
}

func TestCustomHistoryStore(t *testing.T) {
	store := &listStore{kept: map[string][]*message.Message{}}
	agent := newAgent(t, host.AgentConfig{Providers: []host.Provider{host.NewHistory(store, host.HistoryConfig{SourceID: "mine"})}})
	session := agent.CreateSession("s")
	_, err := agent.Run(t.Context(), host.Text("one"), host.RunConfig{Session: session})
	require.NoError(t, err)
	r, err := agent.Run(t.Context(), host.Text("two"), host.RunConfig{Session: session})
	require.NoError(t, err)
	require.Equal(t, "one one two", r.Text())
	require.Len(t, store.kept["s"], 4)
	require.Empty(t, store.kept["s"][0].SourceID, "loading does not change what is stored")
}

// Many goroutines on one agent, each with a session of its own and a mark in its input, instructions, options and
// state: none ever sees another's.
func TestRunsNeverSeeEachOther(t *testing.T) {
	model := &echo{}
	agent := newAgent(t, host.AgentConfig{Client: model, DefaultHistory: host.HistoryWhenMissing, Providers: []host.Provider{
		host.BeforeRunFunc("mark", func(_ context.Context, sc *host.SessionContext) error {
			mark := sc.Input()[0].Text()
			var before string
			if ok, err := sc.State().Get("mark", &before); err != nil || ok && before != mark {
				return fmt.Errorf("state of another session: %q in %q (%v)", before, mark, err)
			}
			if sc.Options().Instructions != mark {
				return fmt.Errorf("options of another run: %q in %q", sc.Options().Instructions, mark)
			}
			sc.ExtendMessages(message.User(mark))
			return sc.State().Set("mark", mark)
		}),
	}})
	var wg sync.WaitGroup
	for g := range 64 {
		wg.Go(func() {
			mark, session := fmt.Sprintf("m%02d", g), agent.CreateSession("")
			for range 6 { // the echo doubles with each turn
				r, err := agent.Run(context.Background(), host.Text(mark), host.RunConfig{
					Session: session, Options: host.Options{Instructions: mark},
				})
				if err != nil {
					t.Error(err)
					return
				}
				for _, word := range strings.FieldsFunc(r.Text(), func(c rune) bool { return c == ' ' || c == '(' || c == ')' }) {
					if word != mark {
						t.Errorf("run %s saw %s", mark, word)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

// One session in many runs at once: every turn is stored whole.
func TestRunsOfOneSessionAreStoredWhole(t *testing.T) {
	agent := newAgent(t, host.AgentConfig{Client: &echo{}})
	session := agent.CreateSession("")
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			if _, err := agent.Run(context.Background(), host.Text(fmt.Sprint(g)), host.RunConfig{Session: session}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	var stored struct{ Messages []*message.Message }
	raw, err := session.State(host.DefaultHistoryID).Raw()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &stored))
	require.Len(t, stored.Messages, 32)
	for i := 0; i < 32; i += 2 {
		require.Equal(t, message.RoleUser, stored.Messages[i].Role)
		require.True(t, strings.HasSuffix(stored.Messages[i+1].Text(), stored.Messages[i].Text()), "the answer follows its question")
	}
}
