package compaction

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// The defaults of a [Summarization].
const (
	// DefaultSummaryStep is how many groups MaxGroups is above KeepLastGroups.
	DefaultSummaryStep = 8
	// DefaultMaxRequestBytes bounds the conversation in one request for a summary.
	DefaultMaxRequestBytes = 64 << 10
	// DefaultMaxSummaryBytes bounds a summary.
	DefaultMaxSummaryBytes = 8 << 10
	// DefaultSummaryCache is how many summaries are remembered.
	DefaultSummaryCache = 128
)

// Summarization has a model write one message in the place of the older groups. It is used through a pointer, remembers
// what it had written, and is safe for many goroutines; its fields must not change after the first use.
//
// Which groups go is decided as with [SlidingWindow]: system messages stay and are not counted, and so stay the newest
// group, the run's own question and calls without a result; important groups stay word for word as long as others can
// go. Earlier summaries are groups like any other here, and are written into the new one.
//
// The summary is an assistant message: it may repeat what somebody planted in the conversation, so it must not speak with
// the weight of the user or the system. It stands where the newest of the groups stood that it is made of, so that a run
// in the middle of many tool calls reads of them after its question and not before. It is marked ([PropertySummary]),
// and other strategies leave it out only after all others but important ones.
//
// The conversation is sent as data: an object of JSON a line, between borders that no text in it can write, with
// instructions to follow none of it. The request has no tools, names no conversation and asks the service not to store it.
// It is sent past all middleware, and its tokens are not in the run's usage. Reasoning and the bytes of files are left
// out; a content that is too long is cut in the middle, and the summary's mark says how many were.
type Summarization struct {
	// Client is asked for summaries. Mandatory.
	Client host.ChatClient
	// Prompt is the instructions for the summary. Default: [DefaultSummaryPrompt]. A prompt of your own should say, like
	// that, that the conversation is data and that "summary" objects are to be taken in.
	Prompt string
	// Options are those of the request; they go before the client's own. Instructions stand behind the prompt.
	Options host.Options
	// KeepLastGroups is how many groups stay. 0 leaves the newest alone.
	KeepLastGroups int
	// MaxGroups is how many groups there may be before older ones go. It must be above KeepLastGroups; the more it is, the
	// longer a summary holds. Default (0): KeepLastGroups + [DefaultSummaryStep].
	MaxGroups int
	// MaxRequestBytes bounds the conversation in one request, its JSON included. Where there is more of it, several requests
	// follow each other, each with the summary so far. At least 4096. Default (0): [DefaultMaxRequestBytes].
	MaxRequestBytes int
	// MaxSummaryBytes bounds the summary; one that is longer is a failure. At most half of MaxRequestBytes. Default (0):
	// [DefaultMaxSummaryBytes], or half of MaxRequestBytes if that is less.
	MaxSummaryBytes int
	// OnError says what it means where no summary could be had: the client failed, or its answer is empty, cut off or too
	// long. In every case no message is lost. Default (""): [host.OnErrorSkip], the messages stay as they are and a
	// warning is logged. [host.OnErrorFail] returns a [*SummaryError]. An end of the context is an error always.
	OnError host.ErrorPolicy
	// Logger gets the warnings. Default: slog.Default().
	Logger *slog.Logger
	// CacheSize is how many summaries are remembered, by the text that they are made of, so that a run that calls its model
	// many times asks for a summary once. The one used longest ago is forgotten first. Default (0):
	// [DefaultSummaryCache].
	CacheSize int

	memory memory
}

// PropertySummary is the property of a message that is a summary. Its value is an object: "messages" is how many
// messages the summary stands for, those of earlier summaries in it among them, and "cut" how many contents of those
// were too long to be read whole.
const PropertySummary = "compaction_summary"

// summaryMark is the value of [PropertySummary].
type summaryMark struct {
	Messages int `json:"messages"`
	Cut      int `json:"cut,omitzero"`
}

// markOf reads a message's mark. Only an assistant message can be a summary.
func markOf(m *message.Message) (mark summaryMark, ok bool) {
	raw, ok := m.Properties[PropertySummary]
	if !ok || m.Role != message.RoleAssistant || json.Unmarshal(raw, &mark) != nil {
		return summaryMark{}, false
	}
	const most = 1 << 30 // more is nobody's count
	return mark, mark.Messages > 0 && mark.Messages <= most && mark.Cut >= 0 && mark.Cut <= most
}

func isSummary(m *message.Message) bool {
	_, ok := markOf(m)
	return ok
}

// SummaryError says that no summary could be had.
type SummaryError struct {
	// Messages is how many messages were to be summarised.
	Messages int
	Err      error
}

// Error says why.
func (e *SummaryError) Error() string {
	return fmt.Sprintf("no summary of %d messages: %v", e.Messages, e.Err)
}

// Unwrap is the reason, such as the client's own error.
func (e *SummaryError) Unwrap() error { return e.Err }

// Check reports a client that is missing, numbers that are negative or do not go together, and an unknown policy.
func (s *Summarization) Check() error {
	f := faults{strategy: "compaction.Summarization"}
	if s.Client == nil {
		f.add("Client is nil, and a summary needs a model: give it a chat client")
	}
	f.notNegative("KeepLastGroups", s.KeepLastGroups)
	f.notNegative("MaxGroups", s.MaxGroups)
	f.notNegative("MaxSummaryBytes", s.MaxSummaryBytes)
	f.notNegative("CacheSize", s.CacheSize)
	if s.MaxGroups > 0 && s.MaxGroups <= s.KeepLastGroups {
		f.add("MaxGroups is %d, and it must be above KeepLastGroups, which is %d", s.MaxGroups, s.KeepLastGroups)
	}
	if s.maxRequest() < 4096 {
		f.add("MaxRequestBytes is %d, and it must be 4096 or more", s.MaxRequestBytes)
	} else if s.MaxSummaryBytes > s.maxRequest()/2 {
		f.add("MaxSummaryBytes is %d, and it must be at most half of MaxRequestBytes, which is %d", s.MaxSummaryBytes, s.maxRequest())
	}
	switch s.OnError {
	case "", host.OnErrorSkip, host.OnErrorFail:
	default:
		f.add("OnError is %q, and it must be %s or %s", s.OnError, host.OnErrorSkip, host.OnErrorFail)
	}
	return f.err()
}

// Compact puts a summary in the place of the older groups where there are too many. It asks the model unless it
// remembers; of several goroutines that need the same summary one asks.
func (s *Summarization) Compact(ctx context.Context, messages []*message.Message, own *message.Message) ([]*message.Message, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	gone := s.older(messages, own)
	if len(gone) == 0 {
		return messages, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t := transcript{most: s.maxRequest() / 4, mostSummary: s.maxRequest() / 2}
	for _, i := range places(gone) {
		t.add(messages[i])
	}
	text, err := s.written(ctx, t.lines)
	if err != nil {
		return s.failed(ctx, messages, &SummaryError{Messages: t.mark.Messages, Err: err})
	}
	newest := slices.MaxFunc(gone, func(a, b *group) int { return a.last() - b.last() })
	summary, err := newSummary(text, t.mark)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(gone, func(g *group) bool { return g.important }) {
		summary.Attribution = Important
	}
	return replaced(messages, gone, func(g *group) *message.Message {
		if g == newest {
			return summary
		}
		return nil
	}), nil
}

// older are the groups that go. How many is a whole number of steps, so that the same groups go while the conversation
// grows by less than a step.
func (s *Summarization) older(messages []*message.Message, own *message.Message) []*group {
	groups := slices.DeleteFunc(grouped(messages, own), func(g *group) bool { return g.system })
	most := s.MaxGroups
	if most == 0 {
		most = s.KeepLastGroups + DefaultSummaryStep
	}
	step := most + 1 - max(1, s.KeepLastGroups) // one stays in any case
	steps := (len(groups) - most + step - 1) / step
	if steps <= 0 {
		return nil
	}
	for _, g := range groups {
		g.pinned = g.pinned || g.open()
	}
	gone := inTurn(groups, func(g *group) int {
		if g.important && !g.summary {
			return 1
		}
		return 0
	})[:outside(groups, len(groups)-steps*step)]
	if len(gone) == 1 && gone[0].summary {
		return nil // it would be a summary of a summary alone
	}
	return gone
}

// places are the places of the groups' messages, ascending.
func places(groups []*group) []int {
	var all []int
	for _, g := range groups {
		all = append(all, g.at...)
	}
	slices.Sort(all)
	return all
}

// newSummary is the message that a summary becomes.
func newSummary(text string, mark summaryMark) (*message.Message, error) {
	value, err := json.Marshal(mark)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", PropertySummary, err)
	}
	m := message.Assistant("[Summary of " + strconv.Itoa(mark.Messages) + " earlier messages]\n" + text)
	m.Properties = map[string]jsontext.Value{PropertySummary: value}
	return m, nil
}

// failed does what the policy says.
func (s *Summarization) failed(ctx context.Context, messages []*message.Message, err *SummaryError) ([]*message.Message, error) {
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case s.OnError == host.OnErrorFail:
		return nil, err
	}
	log := s.Logger
	if log == nil {
		log = slog.Default()
	}
	log.LogAttrs(ctx, slog.LevelWarn, "compaction: the messages stay as they are, for no summary could be had",
		slog.Int("messages", err.Messages), slog.Any("error", err.Err))
	return messages, nil
}

func (s *Summarization) maxRequest() int {
	if s.MaxRequestBytes == 0 {
		return DefaultMaxRequestBytes
	}
	return s.MaxRequestBytes
}

func (s *Summarization) maxSummary() int {
	if s.MaxSummaryBytes == 0 {
		return min(DefaultMaxSummaryBytes, s.maxRequest()/2)
	}
	return s.MaxSummaryBytes
}
