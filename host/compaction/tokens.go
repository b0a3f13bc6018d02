package compaction

import (
	"strings"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// Tokenizer counts the tokens of a text as a model does, or nearly. It must be safe for many goroutines, never negative,
// and 0 for the empty text. [Estimator] is one that needs nothing; package openaitokens has exact ones.
type Tokenizer interface {
	Count(text string) int
}

// TokenizerFunc makes a [Tokenizer] of a function.
type TokenizerFunc func(text string) int

// Count calls the function.
func (f TokenizerFunc) Count(text string) int { return f(text) }

var _ Tokenizer = TokenizerFunc(nil)

// What is counted beside the texts. Models and services differ by a token or two; these lean to the upper side.
const (
	// MessageOverhead are the tokens that stand around each message: its role and its borders. Each result of a tool call
	// is sent as a message of its own, so each counts that many.
	MessageOverhead = 4
	// CallOverhead are the tokens that stand around the name and the arguments of a tool call.
	CallOverhead = 8
	// ToolOverhead are the tokens that stand around the definition of a tool.
	ToolOverhead = 12
	// MediaTokens are the tokens of an image, a sound or a film, whatever its size.
	MediaTokens = 1000
)

// CountMessages is how many tokens the messages are as part of a request: their texts, reasoning, calls, results and
// files, the names of their authors, and what stands around them. A tokenizer that is nil stands for [Estimator].
//
// A file that an URI of the scheme data: carries along counts a token for each four of its bytes; a medium counts
// [MediaTokens]; of any other resource the address counts. Contents of unknown kinds count as the JSON that they are.
func CountMessages(t Tokenizer, messages ...*message.Message) int {
	t = orEstimator(t)
	n := 0
	for _, m := range messages {
		n += countMessage(t, m)
	}
	return n
}

// CountTools is how many tokens the definitions of tools are as part of a request, for [ContextWindow.ReserveRequest]. A
// tokenizer that is nil stands for [Estimator].
func CountTools(t Tokenizer, tools ...host.Tool) int {
	t = orEstimator(t)
	n := 0
	for _, tool := range tools {
		d := tool.Definition()
		n += ToolOverhead + t.Count(d.Name) + t.Count(d.Description)
		if d.Parameters != nil {
			n += t.Count(string(d.Parameters.JSON()))
		}
	}
	return n
}

func orEstimator(t Tokenizer) Tokenizer {
	if t == nil {
		return Estimator{}
	}
	return t
}

func countMessage(t Tokenizer, m *message.Message) int {
	n, results := 0, 0
	if m.AuthorName != "" {
		n += 1 + t.Count(m.AuthorName)
	}
	for _, c := range m.Contents {
		switch c := c.(type) {
		case message.Text:
			n += t.Count(c.Text)
		case message.Reasoning:
			n += t.Count(c.Text)
		case message.URI:
			n += countURI(t, c)
		case message.FunctionCall:
			n += countCall(t, c)
		case message.FunctionResult:
			results++
			n += t.Count(resultText(c))
		case message.Error:
			n += t.Count(c.Message) + t.Count(c.Code)
		case message.ApprovalRequest:
			n += countCall(t, c.Call)
		case message.ApprovalResponse:
			n += countCall(t, c.Call)
		case message.Unknown:
			n += t.Count(string(c.JSON))
		}
	}
	return n + MessageOverhead*max(1, results)
}

func countCall(t Tokenizer, c message.FunctionCall) int {
	return CallOverhead + t.Count(c.Name) + t.Count(string(c.Arguments))
}

func countURI(t Tokenizer, u message.URI) int {
	head, data, inline := strings.Cut(u.URI, ",")
	inline = inline && strings.HasPrefix(head, "data:")
	kind := u.MediaType
	if kind == "" && inline {
		kind = strings.TrimPrefix(head, "data:")
	}
	class, _, _ := strings.Cut(kind, "/")
	switch {
	case class == "image", class == "audio", class == "video":
		return MediaTokens
	case inline && strings.HasSuffix(head, ";base64"):
		return (len(data)*3/4 + 3) / 4
	case inline:
		return (len(data) + 3) / 4
	}
	return t.Count(u.URI)
}

// counter counts each message once, however many strategies ask.
type counter struct {
	tokenizer Tokenizer
	seen      map[*message.Message]int
}

func newCounter(t Tokenizer) *counter {
	return &counter{orEstimator(t), map[*message.Message]int{}}
}

func (c *counter) one(m *message.Message) int {
	n, seen := c.seen[m]
	if !seen {
		n = countMessage(c.tokenizer, m)
		c.seen[m] = n
	}
	return n
}

func (c *counter) all(messages []*message.Message) int {
	n := 0
	for _, m := range messages {
		n += c.one(m)
	}
	return n
}

// group are the tokens of one group's messages.
func (c *counter) group(messages []*message.Message, g *group) int {
	n := 0
	for _, i := range g.at {
		n += c.one(messages[i])
	}
	return n
}
