package host_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

func saved(t *testing.T, s *host.Session) string {
	t.Helper()
	data, err := s.MarshalJSON()
	require.NoError(t, err)
	return string(data)
}

func stored(t *testing.T, s *host.Session) []*message.Message {
	t.Helper()
	messages, err := host.StoredMessages(s.State(host.DefaultHistoryID))
	require.NoError(t, err)
	return messages
}

// However often a session was saved on the way, it says what its messages say.
func TestSavingAfterEachTurnIsSavingOnce(t *testing.T) {
	agent := newAgent(t, host.AgentConfig{Client: &quick{}})
	session := agent.CreateSession("s")
	for turn := range 200 {
		_, err := agent.Run(t.Context(), host.Text(fmt.Sprint("turn ", turn)), host.RunConfig{Session: session})
		require.NoError(t, err)
		if turn%3 > 0 {
			continue
		}
		list, err := message.AppendList(nil, stored(t, session))
		require.NoError(t, err)
		want := `{"type":"session","session_id":"s","service_session_id":null,"state":{"in_memory":{"messages":` + string(list) + `}}}`
		require.Equal(t, want, saved(t, session))
		require.Equal(t, want, saved(t, session))
		if turn%7 == 0 {
			session, err = host.RestoreSession([]byte(want))
			require.NoError(t, err)
		}
	}
}

// What another version wrote about a message, and how it wrote it, outlives the turns of this one.
func TestATurnLeavesTheBytesOfEarlierMessages(t *testing.T) {
	agent := newAgent(t, host.AgentConfig{Client: &quick{}})
	const turn = `{"role":"user","contents":[{"type":"text","text":"hi"}]},{"role":"assistant","contents":[{"type":"text","text":"ok"}]}`
	for before, after := range map[string]string{
		`[]`:   `[` + turn + `]`,
		`[ ]`:  `[ ` + turn + `]`,
		` [] `: `[` + turn + `]`,
		` [ {"role":"user","text":"\u00e4","later":{"n":1.50}} , {"role":"user","contents":[{"type":"later","x":1}]} ] `: `[ {"role":"user","text":"\u00e4","later":{"n":1.50}} , {"role":"user","contents":[{"type":"later","x":1}]} ,` + turn + `]`,
	} {
		session, err := host.RestoreSession([]byte(`{"type":"session","session_id":"s","state":{"in_memory":{"other":1.0,"messages":` + before + `}}}`))
		require.NoError(t, err)
		_, err = agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
		require.NoError(t, err)
		require.Contains(t, saved(t, session), `{"in_memory":{"other":1.0,"messages":`+after+`}}`)
		again, err := host.RestoreSession([]byte(saved(t, session)))
		require.NoError(t, err)
		require.Equal(t, stored(t, session), stored(t, again))
	}
}

func TestAMessageThatCannotBeSavedIsTold(t *testing.T) {
	model := &script{replies: []*host.Response{host.NewResponse("fine"), host.NewResponse("\xff"), host.NewResponse("fine")}}
	agent := newAgent(t, host.AgentConfig{Client: model})
	session := agent.CreateSession("s")
	for range 3 {
		_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
		require.NoError(t, err)
		if len(stored(t, session)) == 2 {
			saved(t, session)
			continue
		}
		for range 2 {
			_, err = session.MarshalJSON()
			require.ErrorContains(t, err, "state/in_memory/messages/3/contents/0: text")
		}
	}
	require.NoError(t, host.EditStoredMessages(session.State(host.DefaultHistoryID), func(all []*message.Message) []*message.Message {
		return append(all[:3], all[4:]...)
	}))
	restored, err := host.RestoreSession([]byte(saved(t, session)))
	require.NoError(t, err)
	require.Equal(t, stored(t, session), stored(t, restored))
	require.Len(t, stored(t, restored), 5)
}

func TestAnEditIsSavedAfterASave(t *testing.T) {
	agent := newAgent(t, host.AgentConfig{Client: &quick{}})
	session := agent.CreateSession("s")
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
	require.NoError(t, err)
	require.Contains(t, saved(t, session), `"hi"`)
	require.NoError(t, host.EditStoredMessages(session.State(host.DefaultHistoryID), func(all []*message.Message) []*message.Message {
		return []*message.Message{message.User("edited"), all[1]}
	}))
	require.Contains(t, saved(t, session), `"edited"`)
	require.NotContains(t, saved(t, session), `"hi"`)
}

// Requests and answers that a history holds are never shown to a model, whichever way they got into the context.
func TestOldApprovalsAreNotShown(t *testing.T) {
	runs := 0
	again := func(_ context.Context, sc *host.SessionContext) error {
		old := message.New(message.RoleAssistant, message.ApprovalRequest{Call: message.FunctionCall{CallID: "old", Name: "ap"}})
		sc.ReplaceMessages(append(sc.Messages(host.Filter{}), old)...)
		return nil
	}
	store := &listStore{kept: map[string][]*message.Message{}}
	for name, providers := range map[string][]host.Provider{
		"in memory": {host.NewInMemoryHistory(host.HistoryConfig{})},
		"replaced":  {host.NewInMemoryHistory(host.HistoryConfig{}), host.BeforeRunFunc("again", again)},
		"own store": {host.NewHistory(store, host.HistoryConfig{SourceID: "mine"})},
	} {
		model := &script{replies: []*host.Response{calls("ap")}}
		agent := newAgent(t, host.AgentConfig{Client: model, Tools: []host.Tool{newAsking("ap", &runs)}, Providers: providers})
		session := agent.CreateSession(name)
		r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
		require.NoError(t, err)
		_, err = agent.Run(t.Context(), answer(asked(r)[0].Respond(true)), host.RunConfig{Session: session})
		require.NoError(t, err)
		other := agent.CreateSession("other")
		for range 2 {
			_, err = agent.Run(t.Context(), host.Text("plain"), host.RunConfig{Session: other})
			require.NoError(t, err)
			requireNothingAsked(t, model)
		}
		for range 2 {
			_, err = agent.Run(t.Context(), host.Text("and now"), host.RunConfig{Session: session})
			require.NoError(t, err)
			requireNothingAsked(t, model)
			session, err = host.RestoreSession([]byte(saved(t, session)))
			require.NoError(t, err)
		}
	}
}

func requireNothingAsked(t *testing.T, model *script) {
	t.Helper()
	sent, err := message.AppendList(nil, model.requests[len(model.requests)-1].Messages)
	require.NoError(t, err)
	require.NotContains(t, string(sent), "approval")
}

// appending keeps each list of messages that it is sent, with one more behind it, and what it read in it.
type appending struct {
	quick
	kept [][]*message.Message
	read [][]string
}

func (a *appending) Complete(ctx context.Context, r *host.ChatRequest) (*host.Response, error) {
	a.kept = append(a.kept, append(r.Messages, message.User("mine")))
	a.read = append(a.read, spoken(r.Messages))
	return a.quick.Complete(ctx, r)
}

func spoken(messages []*message.Message) []string {
	var out []string
	for _, m := range messages {
		out = append(out, string(m.Role)+" "+m.Text())
	}
	return out
}

// Who is sent a list may append to it and keep it, and chat middleware may write into it besides: later calls neither see
// that nor change it, and it is not stored.
func TestNobodyWritesIntoAnothersRequest(t *testing.T) {
	spoil := host.ChatFunc(func(ctx context.Context, c *host.ChatContext, next host.Next) error {
		err := next(ctx)
		for i := range c.Request.Messages {
			c.Request.Messages[i] = message.User("spoilt")
		}
		return err
	})
	turns := []string{"user hi", "assistant ", "tool ", "assistant ok", "user hi", "assistant ", "tool ", "assistant ok"}
	for name, chat := range map[string][]host.ChatMiddleware{"plain": nil, "middleware": {spoil}} {
		model := &appending{}
		agent := newAgent(t, host.AgentConfig{Client: model, Tools: []host.Tool{saying("t")}, Middleware: host.Middleware{Chat: chat}})
		session := agent.CreateSession("")
		for range 2 {
			_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
			require.NoError(t, err)
		}
		require.Equal(t, [][]string{turns[:1], turns[:3], turns[:5], turns[:7]}, model.read, name)
		require.Equal(t, turns, spoken(stored(t, session)), name)
		for call, messages := range model.kept {
			last := len(messages) - 1
			require.Equal(t, "mine", messages[last].Text(), name)
			if chat == nil {
				require.Equal(t, model.read[call], spoken(messages[:last]))
			}
		}
	}
}
