package compaction_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/compaction"
	"github.com/weft-run/weft/message"
)

// result is a call and a result of that many bytes.
func result(id string, size int) []*message.Message {
	text := make([]byte, size)
	for i := range text {
		text[i] = 'x'
	}
	return []*message.Message{
		message.New(message.RoleAssistant, message.FunctionCall{CallID: id, Name: "t"}),
		message.New(message.RoleTool, message.FunctionResult{CallID: id, Result: jsontext.Value(`"` + string(text) + `"`)}),
	}
}

// many are so many groups with results of that size, behind a question.
func many(groups, size int) []*message.Message {
	out := talk("u1")
	for i := range groups {
		out = append(out, result(string(rune('a'+i)), size)...)
	}
	return append(out, talk("a1")...)
}

func lines(messages []*message.Message) (n int) {
	for _, m := range messages {
		if len(m.Text()) > 15 && m.Text()[:15] == "[Tool results: " {
			n++
		}
	}
	return n
}

// The documented defaults are those that work: a quarter of a small window is kept free, tool results go above a half of
// the rest, but for the last three groups, and anything above four fifths.
func TestContextWindowDefaults(t *testing.T) {
	window := compaction.ContextWindow{WindowTokens: 8000, Tokenizer: letters} // 6000 for input: 3000 and 4800
	size := func(messages []*message.Message) int { return compaction.CountMessages(letters, messages...) }

	messages := many(5, 560)
	require.InDelta(t, 2900, size(messages), 90)
	kept, err := window.Compact(t.Context(), messages, nil)
	require.NoError(t, err)
	require.Equal(t, messages, kept, "up to a half nothing happens")

	messages = many(5, 650)
	kept, err = window.Compact(t.Context(), messages, nil)
	require.NoError(t, err)
	require.Equal(t, 1, lines(kept), "one line is enough")
	require.LessOrEqual(t, size(kept), 3000)

	messages = many(6, 1100)
	kept, err = window.Compact(t.Context(), messages, nil)
	require.NoError(t, err)
	require.Equal(t, 3, lines(kept), "the last three stay")
	require.Greater(t, size(kept), 3000)
	require.LessOrEqual(t, size(kept), 4800)
	require.Equal(t, "u1", words(kept[:1]), "nothing else went")

	messages = many(6, 1500)
	kept, err = window.Compact(t.Context(), messages, messages[0])
	require.NoError(t, err)
	require.LessOrEqual(t, size(kept), 4800)
	require.Equal(t, "u1", words(kept[:1]), "the run's own question stays")
	require.NotZero(t, len(kept))

	large := compaction.ContextWindow{WindowTokens: 100_000, Tokenizer: letters} // 8192 are kept free
	for size, same := range map[int]bool{(100_000 - compaction.DefaultReserveOutput) / 2: true, (100_000-compaction.DefaultReserveOutput)/2 + 60: false} {
		messages := append(append(result("1", size-100), result("2", 1)...), append(result("3", 1), append(result("4", 1), talk("a1")...)...)...)
		kept, err := large.Compact(t.Context(), messages, nil)
		require.NoError(t, err)
		require.Equal(t, same, len(kept) == len(messages), "%d", size)
	}
}

func TestContextWindowSettings(t *testing.T) {
	messages := many(4, 1000)
	for name, c := range map[string]struct {
		window compaction.ContextWindow
		lines  int
		all    bool
	}{
		"room for all":         {compaction.ContextWindow{WindowTokens: 20_000}, 0, true},
		"less for input":       {compaction.ContextWindow{WindowTokens: 20_000, ReserveOutput: new(13_000)}, 1, true},
		"less for messages":    {compaction.ContextWindow{WindowTokens: 20_000, ReserveRequest: 8_000}, 1, true},
		"an early first share": {compaction.ContextWindow{WindowTokens: 20_000, EvictAbove: new(0.1), KeepToolResults: new(0)}, 4, true},
		"no first share":       {compaction.ContextWindow{WindowTokens: 5_000, ReserveOutput: new(0), EvictAbove: new(1.0)}, 0, true},
		"an early second":      {compaction.ContextWindow{WindowTokens: 20_000, TruncateAbove: new(0.1)}, 0, false},
	} {
		c.window.Tokenizer = letters
		kept, err := c.window.Compact(t.Context(), messages, nil)
		require.NoError(t, err, name)
		require.Equal(t, c.lines, lines(kept), name)
		require.Equal(t, c.all, len(kept) > 0 && kept[0].Text() == "u1", name)
	}
}

func TestContextWindowMakesLinesOnlyWhereThatHelps(t *testing.T) {
	window := compaction.ContextWindow{
		WindowTokens: 60, ReserveOutput: new(0), EvictAbove: new(0.1), TruncateAbove: new(1.0), KeepToolResults: new(0), Tokenizer: letters,
	}
	for _, text := range []string{
		"c1 r1 c2 r2 a1",  // a line would be longer
		"c1+2+3 a1 u2 a2", // the results are still to come
	} {
		kept, err := window.Compact(t.Context(), talk(text), nil)
		require.NoError(t, err)
		require.Equal(t, text, words(kept))
	}
}

func TestContextWindowLeavesImportantResultsAlone(t *testing.T) {
	messages := append(result("1", 1000), append(result("2", 1000), talk("a1")...)...)
	messages[0].Attribution = compaction.Important
	window := compaction.ContextWindow{WindowTokens: 3000, ReserveOutput: new(0), KeepToolResults: new(0), Tokenizer: letters}
	kept, err := window.Compact(t.Context(), messages, nil)
	require.NoError(t, err)
	require.Equal(t, messages[:2], kept[:2])
	require.Contains(t, kept[2].Text(), "bytes left out")
}
