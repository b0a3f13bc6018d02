package compaction_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/compaction"
	"github.com/weft-run/weft/message"
)

// Whatever the conversation, the promises of the package hold.
func TestPromisesHoldForRandomConversations(t *testing.T) {
	for seed := range uint64(8000) {
		keepPromises(t, seed)
	}
}

func FuzzPromises(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(keepPromises)
}

func keepPromises(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	text := randomTalk(r)
	messages := talk(text)
	own := randomOwn(r, messages)
	list, copies := slices.Clone(messages), message.CloneAll(messages)
	s, o := randomStrategy(r, 2)
	kept, err := s.Compact(context.Background(), messages, own)
	if err != nil {
		t.Fatal(err)
	}
	fault := broken(messages, kept, own, o)
	if !slices.Equal(list, messages) || !reflect.DeepEqual(copies, list) {
		fault = "the messages that were given are changed"
	}
	if fault != "" {
		t.Fatalf("seed %d: %T%+v made of\n%s\nthis:\n%s\n%s", seed, s, s, text, words(kept), fault)
	}
}

func randomTalk(r *rand.Rand) string {
	var out []string
	for i := range r.IntN(14) {
		word := fmt.Sprintf("%c%d", "suua"[r.IntN(4)], i)
		switch r.IntN(6) {
		case 0:
			word = fmt.Sprintf("c%d r%d", i, i)
		case 1:
			word = fmt.Sprintf("c%d+%dx r%dx r%d", i, i, i, i)
		case 2:
			word = fmt.Sprintf("c%d u%d r%d", i, i, i)
		case 3:
			word = fmt.Sprintf("c%d c%dx r%d+%dx", i, i, i, i)
		}
		if r.IntN(5) == 0 {
			word += "!"
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

func randomOwn(r *rand.Rand, messages []*message.Message) *message.Message {
	users := slices.DeleteFunc(slices.Clone(messages), func(m *message.Message) bool { return m.Role != message.RoleUser })
	if len(users) == 0 || r.IntN(3) == 0 {
		return nil
	}
	return users[r.IntN(len(users))]
}

// oath is which promises a strategy gives beside those that all give.
type oath struct {
	system bool // system messages stay
	// ordinaryFirst says that no important message goes while an ordinary one may.
	ordinaryFirst bool
}

// writer is a model that says something else each time.
func writer() host.ChatClient {
	return &script{answer: func(n int, _ *host.ChatRequest) (*host.Response, error) {
		return host.NewResponse(fmt.Sprintf("summary-%d", n)), nil
	}}
}

func randomStrategy(r *rand.Rand, depth int) (compaction.Strategy, oath) {
	system := r.IntN(2) == 0
	kinds := 7
	if depth == 0 {
		kinds = 6
	}
	switch r.IntN(kinds) {
	case 0:
		return compaction.SlidingWindow{KeepLastGroups: r.IntN(6), PreserveSystem: &system}, oath{system, true}
	case 1:
		over := r.IntN(12)
		return compaction.Truncation{MaxMessages: over, CompactTo: r.IntN(over + 1), PreserveSystem: &system}, oath{system, true}
	case 2:
		return compaction.SelectiveToolCall{KeepLastToolCallGroups: r.IntN(4)}, oath{true, false}
	case 3:
		return compaction.ToolResult{KeepLastToolCallGroups: r.IntN(4)}, oath{true, false}
	case 4:
		return compaction.ContextWindow{
			WindowTokens: 10 + r.IntN(200), KeepToolResults: new(r.IntN(3)), PreserveSystem: &system, EvictAbove: new(0.1 + r.Float64()*0.5),
		}, oath{system, true}
	case 5:
		keep := r.IntN(5)
		return &compaction.Summarization{Client: writer(), KeepLastGroups: keep, MaxGroups: keep + 1 + r.IntN(4)}, oath{true, true}
	}
	s, o := compaction.TokenBudget{MaxTokens: 1 + r.IntN(150), PreserveSystem: &system}, oath{system, true}
	for range r.IntN(4) {
		next, its := randomStrategy(r, depth-1)
		s.Strategies = append(s.Strategies, next)
		o = oath{o.system && its.system, o.ordinaryFirst && its.ordinaryFirst}
	}
	if len(s.Strategies) > 1 {
		o.ordinaryFirst = false // each of them keeps it for what it was given, and one may need less room than the one before
	}
	return s, o
}

// broken says which promise does not hold.
func broken(messages, kept []*message.Message, own *message.Message, o oath) string {
	calls, results := map[string]bool{}, map[string]bool{}
	for _, m := range kept {
		for _, c := range m.Contents {
			switch c := c.(type) {
			case message.FunctionCall:
				calls[c.CallID] = true
			case message.FunctionResult:
				results[c.CallID] = true
			}
		}
	}
	for id := range calls {
		if !results[id] {
			return "the call " + id + " lost its result"
		}
	}
	for id := range results {
		if !calls[id] {
			return "the result of " + id + " lost its call"
		}
	}
	if own != nil && !slices.Contains(kept, own) {
		return "the run's own question is gone"
	}
	at := -1
	for _, m := range kept {
		if i := slices.Index(messages, m); i >= 0 {
			if i <= at {
				return "the order changed"
			}
			at = i
		}
	}
	for i, m := range slices.Backward(messages) {
		if m.Role != message.RoleSystem {
			if !slices.Contains(kept, messages[i]) {
				return "the newest group is gone"
			}
			break
		}
	}
	for _, m := range messages {
		if o.system && m.Role == message.RoleSystem && !slices.Contains(kept, m) {
			return "a system message is gone"
		}
	}
	if o.ordinaryFirst {
		return unfair(messages, kept, own)
	}
	return ""
}

// unfair says which important message went before an ordinary one that might have gone.
func unfair(messages, kept []*message.Message, own *message.Message) string {
	ids := func(m *message.Message) (out []string) {
		for _, c := range m.Contents {
			switch c := c.(type) {
			case message.FunctionCall:
				out = append(out, c.CallID)
			case message.FunctionResult:
				out = append(out, c.CallID)
			}
		}
		return out
	}
	// What stands in one group with an important message, with the run's question or with the newest message.
	special := map[string]bool{}
	last := len(messages) - 1
	for last >= 0 && messages[last].Role == message.RoleSystem {
		last--
	}
	for range messages { // groups may hang together over several messages
		for i, m := range messages {
			mine := ids(m)
			if i == last || m == own || m.Attribution == compaction.Important || slices.ContainsFunc(mine, func(id string) bool { return special[id] }) {
				for _, id := range mine {
					special[id] = true
				}
			}
		}
	}
	gone := ""
	for _, m := range messages {
		if m.Attribution == compaction.Important && m.Role != message.RoleSystem && !slices.Contains(kept, m) {
			gone = words([]*message.Message{m})
		}
	}
	if gone == "" {
		return ""
	}
	for i, m := range messages {
		ordinary := m.Role != message.RoleSystem && m.Attribution == "" && m != own && i != last &&
			!slices.ContainsFunc(ids(m), func(id string) bool { return special[id] })
		if ordinary && slices.Contains(kept, m) {
			return "the important message " + gone + " went before " + words([]*message.Message{m})
		}
	}
	return ""
}
