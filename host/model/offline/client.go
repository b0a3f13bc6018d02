package offline

import (
	"context"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weft-run/weft/host"
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

// Client answers by quoting the context of a request. It keeps nothing between calls and may be used by many goroutines.
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

// Complete returns the answer as one assistant message. The only error is that of ctx.
func (c *Client) Complete(ctx context.Context, request *host.ChatRequest) (*host.Response, error) {
	answer, usage, err := c.reply(ctx, request)
	if err != nil {
		return nil, err
	}
	response := host.NewResponse(answer)
	response.Usage = usage
	return response, nil
}

// Stream yields the same answer word by word: each update is a word with the space after it. Usage and finish reason are
// on the last one. Where ctx ends on the way, its error comes next and is the last.
func (c *Client) Stream(ctx context.Context, request *host.ChatRequest) iter.Seq2[*host.Update, error] {
	return func(yield func(*host.Update, error) bool) {
		answer, usage, err := c.reply(ctx, request)
		for answer != "" && err == nil {
			n := wordEnd(answer)
			update := host.TextUpdate(answer[:n])
			if answer = answer[n:]; answer == "" {
				update.FinishReason, update.Usage = host.FinishStop, usage
			}
			if !yield(update, nil) {
				return
			}
			if answer != "" {
				err = ctx.Err()
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// reply is what both ways of calling share.
func (c *Client) reply(ctx context.Context, request *host.ChatRequest) (string, *host.Usage, error) {
	if request == nil {
		request = &host.ChatRequest{}
	}
	r, err := read(ctx, request)
	if err != nil {
		return "", nil, err
	}
	answer := strings.ToValidUTF8(c.answer(ctx, r), "\uFFFD")
	return answer, &host.Usage{InputTokens: inputTokens(request), OutputTokens: CountTokens(answer)}, ctx.Err()
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
