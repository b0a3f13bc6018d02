package offline

import (
	"context"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// The limits of an answer that [Config] has where nothing else is said.
const (
	DefaultMaxSentences = 3
	DefaultMaxLength    = 600
)

// Config bounds the answers of a [Client]. The zero value is ready to use.
type Config struct {
	// MaxSentences is how many sentences an answer quotes at most. 0 or less means [DefaultMaxSentences].
	MaxSentences int
	// MaxLength is how many characters an answer quotes at most, sources not counted. A single sentence that is longer is
	// cut at a word. 0 or less means [DefaultMaxLength].
	MaxLength int
}

// Client answers by quoting the context of a request, and by calling the tools that it names. It keeps nothing between calls and may be used by many goroutines.
type Client struct {
	maxSentences, maxLength int
}

var _ host.ChatClient = (*Client)(nil)

// New returns a client.
func New(c Config) *Client {
	client := &Client{maxSentences: c.MaxSentences, maxLength: c.MaxLength}
	if client.maxSentences <= 0 {
		client.maxSentences = DefaultMaxSentences
	}
	if client.maxLength <= 0 {
		client.maxLength = DefaultMaxLength
	}
	return client
}

// Complete returns the answer as one assistant message: a text, or calls of tools. The only error is that of ctx.
func (c *Client) Complete(ctx context.Context, request *host.ChatRequest) (*host.Response, error) {
	answer, err := c.reply(ctx, request)
	if err != nil {
		return nil, err
	}
	return &host.Response{
		Messages:     []*message.Message{message.New(message.RoleAssistant, answer.contents()...)},
		FinishReason: answer.reason(), Usage: answer.usage,
	}, nil
}

// Stream yields the same answer word by word: each update is a word with the space after it. Calls come all in one
// update. Usage and finish reason are on the last one. Where ctx ends on the way, its error comes next and is the last.
func (c *Client) Stream(ctx context.Context, request *host.ChatRequest) iter.Seq2[*host.Update, error] {
	return func(yield func(*host.Update, error) bool) {
		answer, err := c.reply(ctx, request)
		if err != nil {
			yield(nil, err)
			return
		}
		if len(answer.calls) > 0 {
			yield(&host.Update{
				Role: message.RoleAssistant, Contents: answer.contents(), FinishReason: answer.reason(), Usage: answer.usage,
			}, nil)
			return
		}
		for text := answer.text; text != "" && err == nil; {
			n := wordEnd(text)
			update := host.TextUpdate(text[:n])
			if text = text[n:]; text == "" {
				update.FinishReason, update.Usage = answer.reason(), answer.usage
			}
			if !yield(update, nil) {
				return
			}
			if text != "" {
				err = ctx.Err()
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// reply is an answer: a text, or calls.
type reply struct {
	text  string
	calls []message.FunctionCall
	usage *host.Usage
}

func (r *reply) contents() []message.Content {
	if len(r.calls) == 0 {
		return []message.Content{message.Text{Text: r.text}}
	}
	var out []message.Content
	for _, one := range r.calls {
		out = append(out, one)
	}
	return out
}

func (r *reply) reason() host.FinishReason {
	if len(r.calls) > 0 {
		return host.FinishToolCalls
	}
	return host.FinishStop
}

// reply is what both ways of calling share. Results that are there are told; tools that the question names are called;
// everything else is answered from the context.
func (c *Client) reply(ctx context.Context, request *host.ChatRequest) (*reply, error) {
	if request == nil {
		request = &host.ChatRequest{}
	}
	r, err := read(ctx, request)
	if err != nil {
		return nil, err
	}
	out := &reply{usage: &host.Usage{InputTokens: inputTokens(request)}}
	if results := resultsOf(request.Messages); len(results) > 0 {
		out.text = c.tell(results)
	} else if out.calls, out.text = callTools(request, r.question); len(out.calls) == 0 && out.text == "" {
		out.text = c.answer(ctx, r)
	}
	out.text = strings.ToValidUTF8(out.text, "\uFFFD")
	out.usage.OutputTokens = CountTokens(out.text)
	for _, one := range out.calls {
		out.usage.OutputTokens += CountTokens(one.Name) + CountTokens(string(one.Arguments))
	}
	return out, ctx.Err()
}

// wordEnd is where the first word of s ends, the white space behind it included.
func wordEnd(s string) int {
	seen := false
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsSpace(r) {
			seen = true
		} else if seen {
			return i + len(s[i:]) - len(strings.TrimLeftFunc(s[i:], unicode.IsSpace))
		}
		i += n
	}
	return len(s)
}
