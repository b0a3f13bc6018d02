package compaction_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weft-run/weft/host/compaction"
	"github.com/weft-run/weft/message"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// talk reads a conversation from words: "s1", "u1", "a1" are messages of a system, a user and an assistant, "c1" or
// "c1+2" an assistant's calls with those ids of the tools t1 and t2, and "r1" or "r1+2" a message with their results. A
// "!" behind a word makes the message important.
func talk(words string) []*message.Message {
	var out []*message.Message
	for word := range strings.FieldsSeq(words) {
		name, important := strings.CutSuffix(word, "!")
		var m *message.Message
		switch name[0] {
		case 's':
			m = message.System(name)
		case 'u':
			m = message.User(name)
		case 'a':
			m = message.Assistant(name)
		case 'c':
			m = message.New(message.RoleAssistant)
			for _, id := range strings.Split(name[1:], "+") {
				m.Contents = append(m.Contents, message.FunctionCall{CallID: id, Name: "t" + id})
			}
		case 'r':
			m = message.New(message.RoleTool)
			for _, id := range strings.Split(name[1:], "+") {
				m.Contents = append(m.Contents, message.FunctionResult{CallID: id, Result: jsontext.Value(`"res` + id + `"`)})
			}
		}
		if important {
			m.Attribution = compaction.Important
		}
		out = append(out, m)
	}
	return out
}

// words is the reverse of talk; a line that a strategy put in is its text.
func words(messages []*message.Message) string {
	var out []string
	for _, m := range messages {
		word := m.Text()
		for _, c := range m.Contents {
			switch c := c.(type) {
			case message.FunctionCall:
				word += "+" + c.CallID
			case message.FunctionResult:
				word += "+" + c.CallID
			}
		}
		if strings.HasPrefix(word, "+") {
			prefix := "c"
			if m.Role == message.RoleTool {
				prefix = "r"
			}
			word = prefix + word[1:]
		}
		if m.Attribution == compaction.Important {
			word += "!"
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

func TestStrategies(t *testing.T) {
	window := func(n int) compaction.Strategy { return compaction.SlidingWindow{KeepLastGroups: n} }
	bareWindow := func(n int) compaction.Strategy {
		return compaction.SlidingWindow{KeepLastGroups: n, PreserveSystem: new(false)}
	}
	truncation := func(over, to int) compaction.Strategy {
		return compaction.Truncation{MaxMessages: over, CompactTo: to}
	}
	bareTruncation := func(over, to int) compaction.Strategy {
		return compaction.Truncation{MaxMessages: over, CompactTo: to, PreserveSystem: new(false)}
	}
	selective := func(n int) compaction.Strategy { return compaction.SelectiveToolCall{KeepLastToolCallGroups: n} }
	lines := func(n int) compaction.Strategy { return compaction.ToolResult{KeepLastToolCallGroups: n} }

	for _, c := range []struct {
		name     string
		strategy compaction.Strategy
		talk     string
		own      string
		want     string
	}{
		{"window: nothing", window(2), "", "", ""},
		{"window: all fits", window(3), "u1 a1 u2", "", "u1 a1 u2"},
		{"window: the last groups", window(2), "u1 c1 r1 a1", "", "c1 r1 a1"},
		{"window: system stays and is not counted", window(1), "s1 u1 s2 u2", "", "s1 s2 u2"},
		{"window: without system", bareWindow(1), "s1! u1 u2 s2", "", "u2"},
		{"window: the newest stays whatever is kept", window(0), "u1 a1 s1", "", "a1 s1"},
		{"window: own stays beside it", window(2), "u1 c1 r1 c2 r2", "u1", "u1 c1 r1 c2 r2"},
		{"window: own inside is counted", window(2), "u1 a1 u2", "u2", "a1 u2"},
		{"window: important goes last", window(2), "u1! a1 u2 a2", "", "u1! a2"},
		{"window: important goes in the end", window(2), "u1! a1! u2! a2", "", "u2! a2"},
		{"window: a call that middleware parted from its result", window(1), "u1 c1 u2 r1", "", "c1 r1"},
		{"window: several result messages", window(1), "u1 c1+2 r1 r2", "", "c1+2 r1 r2"},
		{"window: one message of results for two of calls", window(1), "u1 c1 c2 r1+2", "", "c1 c2 r1+2"},
		{"window: results whose calls a service keeps", window(1), "r1 r2", "", "r1 r2"},
		{"window: a call id used again", window(1), "c1 r1 c1 r1", "", "c1 r1"},
		{"truncation: up to the limit", truncation(4, 1), "u1 a1 u2 a2", "", "u1 a1 u2 a2"},
		{"truncation: above it", truncation(3, 2), "u1 a1 u2 a2", "", "u2 a2"},
		{"truncation: groups go as a whole", truncation(3, 3), "u1 c1 r1 a1", "", "c1 r1 a1"},
		{"truncation: at most", truncation(3, 2), "u1 c1 r1 a1", "", "a1"},
		{"truncation: system stays and counts", truncation(3, 2), "s1 u1 a1 u2", "", "s1 u2"},
		{"truncation: system like any other", bareTruncation(3, 2), "s1 u1 a1 u2", "", "a1 u2"},
		{"truncation: the newest stays", truncation(1, 0), "u1 c1 r1", "", "c1 r1"},
		{"truncation: a newest system message is not the last group", bareTruncation(1, 0), "u1 a1 s1", "", "a1"},
		{"truncation: own stays", truncation(2, 1), "u1 c1 r1 c2 r2", "u1", "u1 c2 r2"},
		{"truncation: important goes last", truncation(3, 2), "u1! a1 u2 a2", "", "u1! a2"},
		{"truncation: important goes in the end", truncation(3, 1), "u1! a1 u2 a2", "", "a2"},
		{"selective: older calls", selective(1), "u1 c1 r1 a1 c2 r2 a2", "", "u1 a1 c2 r2 a2"},
		{"selective: all calls", selective(0), "u1 c1 r1 a1", "", "u1 a1"},
		{"selective: but for the newest group", selective(0), "u1 c1 r1 c2 r2", "", "u1 c2 r2"},
		{"selective: important goes last", selective(1), "c1! r1 c2 r2 a1", "", "c1! r1 a1"},
		{"lines: older calls", lines(1), "u1 c1 r1 a1 c2 r2 a2", "", "u1 [Tool results: t1: res1] a1 c2 r2 a2"},
		{"lines: all results of a group", lines(0), "c1+2 r1 r2 a1", "", "[Tool results: t1: res1; t2: res2] a1"},
		{"lines: calls without results stay", lines(0), "c1 u1 c2+3 r2 a1", "", "c1 u1 c2+3 r2 a1"},
		{"lines: those do not make newer ones go", lines(2), "c1 c2 r2 c3 r3 a1", "", "c1 c2 r2 c3 r3 a1"},
		{"lines: important stays so", lines(0), "c1! r1 a1", "", "[Tool results: t1: res1]! a1"},
		{"lines: no more of a result than is wanted", compaction.ToolResult{MaxResult: 3}, "c1 r1 a1", "", "[Tool results: t1: …] a1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			messages := talk(c.talk)
			var own *message.Message
			if at := slices.Index(strings.Fields(c.talk), c.own); at >= 0 {
				own = messages[at]
			}
			before := slices.Clone(messages)
			kept, err := c.strategy.Compact(t.Context(), messages, own)
			require.NoError(t, err)
			require.Equal(t, c.want, words(kept))
			require.Equal(t, before, messages, "the list that was given is left alone")
			require.Equal(t, c.talk, words(messages), "and so are its messages")

			again, err := c.strategy.Compact(t.Context(), kept, own)
			require.NoError(t, err)
			require.Equal(t, c.want, words(again), "what was compacted stays as it is")
		})
	}
}

// A call that waits for approval stays until it is answered, however old it is, and what is said about it belongs to it.
func TestCallsThatWaitForApproval(t *testing.T) {
	call := message.FunctionCall{CallID: "1", Name: "t1"}
	request := message.ApprovalRequest{Call: call}
	asked := message.New(message.RoleAssistant, call, request)
	approved := message.New(message.RoleUser, request.Respond(true))
	window := compaction.SlidingWindow{KeepLastGroups: 1}

	messages := append([]*message.Message{asked}, talk("u2 a2")...)
	kept, err := window.Compact(t.Context(), messages, nil)
	require.NoError(t, err)
	require.Equal(t, "c1 a2", words(kept), "it waits")

	messages = append(messages, approved)
	kept, err = window.Compact(t.Context(), messages, approved)
	require.NoError(t, err)
	require.Equal(t, []*message.Message{asked, approved}, kept, "the decision and the call are one group")

	messages = append(messages, talk("r1 a3")...)
	kept, err = compaction.ToolResult{}.Compact(t.Context(), messages, nil)
	require.NoError(t, err)
	require.Equal(t, "[Tool results: t1: res1] u2 a2 a3", words(kept))

	messages[3] = message.New(message.RoleUser, request.Respond(true), message.Text{Text: "and hurry"})
	kept, err = compaction.ToolResult{}.Compact(t.Context(), messages, nil)
	require.NoError(t, err)
	require.Equal(t, "[Tool results: t1: res1] u2 a2 and hurry a3", words(kept), "what somebody said stays")
}

// Some models give their calls no id. What is no result is not about such a call.
func TestCallsWithoutAnID(t *testing.T) {
	messages := slices.Concat(talk("u1"), []*message.Message{
		message.New(message.RoleAssistant, message.FunctionCall{Name: "t"}), message.New(message.RoleTool, message.FunctionResult{}),
	}, talk("a1 u2"))
	kept, err := compaction.SlidingWindow{KeepLastGroups: 1}.Compact(t.Context(), messages, nil)
	require.NoError(t, err)
	require.Equal(t, "u2", words(kept))
}

func TestOwnMessageThatMiddlewareReplaced(t *testing.T) {
	messages := talk("u1 a1 u1 c1 r1 c2 r2")
	kept, err := compaction.SlidingWindow{KeepLastGroups: 1}.Compact(t.Context(), messages, message.User("u1"))
	require.NoError(t, err)
	require.Equal(t, "u1 c2 r2", words(kept))
	require.Same(t, messages[2], kept[0], "the last of those that are alike")
}

func TestLineShowsResultsAsAModelReadsThem(t *testing.T) {
	for _, c := range []struct {
		result message.FunctionResult
		want   string
	}{
		{message.FunctionResult{Result: jsontext.Value(`"plain \"text\""`)}, `plain "text"`},
		{message.FunctionResult{Result: jsontext.Value(`{"a":1}`)}, `{"a":1}`},
		{message.FunctionResult{Result: jsontext.Value(`null`), Error: "boom"}, "boom"},
		{message.FunctionResult{Error: "boom"}, "boom"},
		{message.FunctionResult{Result: jsontext.Value(`"Error: Function failed."`), Error: "boom"}, "Error: Function failed."},
	} {
		c.result.CallID = "1"
		messages := append(talk("c1"), message.New(message.RoleTool, c.result), message.User("u1"))
		kept, err := compaction.ToolResult{}.Compact(t.Context(), messages, nil)
		require.NoError(t, err)
		require.Equal(t, "[Tool results: t1: "+c.want+"]", kept[0].Text())
	}
}
