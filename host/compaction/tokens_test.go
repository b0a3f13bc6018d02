package compaction_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/compaction"
	"github.com/weft-run/weft/host/schema"
	"github.com/weft-run/weft/message"
)

// letters is a tokenizer whose counts a reader can check: a token for each byte.
var letters = compaction.TokenizerFunc(func(text string) int { return len(text) })

type tool host.ToolDefinition

func (t tool) Definition() host.ToolDefinition { return host.ToolDefinition(t) }

func TestCountMessages(t *testing.T) {
	const around = compaction.MessageOverhead
	call := message.FunctionCall{CallID: "1", Name: "now", Arguments: jsontext.Value(`{"a":1}`)}
	for _, c := range []struct {
		name     string
		contents []message.Content
		want     int
	}{
		{"nothing", nil, around},
		{"texts", []message.Content{message.Text{Text: "ab"}, message.Text{Text: "c"}}, around + 3},
		{"reasoning", []message.Content{message.Reasoning{Text: "abc"}}, around + 3},
		{"a call", []message.Content{call}, around + compaction.CallOverhead + 3 + 7},
		{"its approval", []message.Content{message.ApprovalRequest{Call: call}}, around + compaction.CallOverhead + 3 + 7},
		{"a decision", []message.Content{message.ApprovalResponse{Call: call}}, around + compaction.CallOverhead + 3 + 7},
		{"results are messages each", []message.Content{
			message.FunctionResult{CallID: "1", Result: jsontext.Value(`"four"`)}, message.FunctionResult{CallID: "2", Error: "no"},
		}, 2*around + 4 + 2},
		{"an error", []message.Content{message.Error{Message: "ab", Code: "c"}}, around + 3},
		{"an address", []message.Content{message.URI{URI: "https://a"}}, around + 9},
		{"an image", []message.Content{message.URI{URI: "https://a", MediaType: "image/png"}}, around + compaction.MediaTokens},
		{"an image inside", []message.Content{message.URI{URI: "data:image/png;base64,AAAA"}}, around + compaction.MediaTokens},
		{"a file inside", []message.Content{message.URI{URI: "data:text/plain;base64," + strings.Repeat("A", 64)}}, around + 12},
		{"a text inside", []message.Content{message.URI{URI: "data:text/plain,12345"}}, around + 2},
		{"what is not known", []message.Content{message.Unknown{Type: "x", JSON: jsontext.Value(`{"type":"x"}`)}}, around + 12},
	} {
		require.Equal(t, c.want, compaction.CountMessages(letters, message.New(message.RoleUser, c.contents...)), c.name)
	}
	named := message.User("hi")
	named.AuthorName = "ann"
	require.Equal(t, 2*around+4+2+2, compaction.CountMessages(letters, named, message.User("yo")))
	require.Zero(t, compaction.CountMessages(nil))
	require.Equal(t, around+2, compaction.CountMessages(nil, message.User("hello world")), "nil is the estimator")
}

func TestCountTools(t *testing.T) {
	takes, err := schema.Parse([]byte(`{}`))
	require.NoError(t, err)
	a := tool{Name: "now", Description: "time", Parameters: takes}
	require.Equal(t, 2*(compaction.ToolOverhead+9), compaction.CountTools(letters, a, a))
	require.Positive(t, compaction.CountTools(nil, a))
	require.Equal(t, compaction.ToolOverhead+3, compaction.CountTools(letters, tool{Name: "now"}))
}

// How near the estimator is to an exact tokenizer is tested in package openaitokens, beside the vocabularies.
func TestEstimator(t *testing.T) {
	var e compaction.Estimator
	require.Zero(t, e.Count(""))
	for text, want := range map[string]int{
		"a": 1, " ": 1, "hello world": 2, "HTTP": 2, "readFile": 2, "123456": 2, "\n": 1, "done.\n": 2, "\xff": 1, "中文字符": 3, "🎉": 2,
	} {
		require.Equal(t, want, e.Count(text), "%q", text)
	}
	require.Zero(t, testing.AllocsPerRun(10, func() { e.Count("Hallo Wörld, 12 * 中文 🎉\n\t{}") }))
}

func FuzzEstimator(f *testing.F) {
	f.Add("Hello, Wörld! 中文 🎉 \xff\n")
	f.Fuzz(func(t *testing.T, text string) {
		n := compaction.Estimator{}.Count(text)
		require.Equal(t, text == "", n == 0)
		require.LessOrEqual(t, n, 2*len(text))
	})
}
