package structured

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

var (
	// ErrInvalid is what every [Error] is: the model gave no answer that fits.
	ErrInvalid = errors.New("structured output: no answer that fits")
	// ErrNoAnswer is returned where a run ended before the answer: a call waits for approval, or is the caller's to
	// answer, or the tool choice was required. The response is returned too; go on with it as with any run.
	ErrNoAnswer = errors.New("structured output: the run ended with tool calls, before an answer")
)

// Reason says why an answer was not taken.
type Reason string

// The reasons.
const (
	// ReasonNotJSON: the answer is not one JSON value, or something stands around it.
	ReasonNotJSON Reason = "not_json"
	// ReasonSchema: it is JSON, and does not fit the schema or the Go type.
	ReasonSchema Reason = "schema"
	// ReasonEmpty: the model said nothing.
	ReasonEmpty Reason = "empty"
	// ReasonLength: the model was cut off at its token limit.
	ReasonLength Reason = "length"
	// ReasonRefusal: the model said that it will not answer, which a client tells as a [message.Error] with the code
	// refusal. It is not asked again.
	ReasonRefusal Reason = "refusal"
	// ReasonContentFilter: the service stopped the answer. The model is not asked again.
	ReasonContentFilter Reason = "content_filter"
)

// longestText is how many bytes of a bad answer an error keeps.
const longestText = 4 << 10

// Error is an answer that was not taken, after the last repair. It is [ErrInvalid].
type Error struct {
	Reason Reason
	// Text is the last answer, cut to 4 KiB. It is no part of the error's own text.
	Text string
	// Attempts is how often the model was asked, the first time included.
	Attempts int
	// Err is what is wrong with the answer, and where.
	Err error
}

// Error says why, and what is wrong. Parts of the answer may be quoted.
func (e *Error) Error() string {
	times := "once"
	if e.Attempts > 1 {
		times = fmt.Sprintf("%d times", e.Attempts)
	}
	return fmt.Sprintf("%v (%s; asked %s): %v", ErrInvalid, e.Reason, times, e.Err)
}

// Unwrap is ErrInvalid and what is wrong.
func (e *Error) Unwrap() []error { return []error{ErrInvalid, e.Err} }

// ErrorType names the kind of the error for telemetry.
func (e *Error) ErrorType() string { return "structured_output." + string(e.Reason) }

// again reports whether it makes sense to ask once more.
func (e *Error) again() bool { return e.Reason != ReasonRefusal && e.Reason != ReasonContentFilter }

// cutText is the beginning of a text, as valid UTF-8 of at most 4 KiB.
func cutText(text string) string {
	if len(text) > longestText {
		end := longestText
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	return strings.ToValidUTF8(text, "?")
}
