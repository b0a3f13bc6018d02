package openaitest

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
)

// Reply is one answer of the script. It says what the model does; the server puts it into the form that is asked for.
type Reply struct {
	// Text is what the model says. Streamed, it goes word by word.
	Text string
	// Reasoning is what it shows of its thinking, before the text.
	Reasoning string
	// Refusal is what it says in place of an answer.
	Refusal string
	// Calls are the tools that it wants called. Streamed, their arguments go in pieces, all calls in turn.
	Calls []Call
	// FinishReason is that of chat completions: stop, length, content_filter. Empty means tool_calls or stop.
	FinishReason string
	// Vectors are what the endpoint /embeddings answers, one for each text.
	Vectors [][]float32
	// Usage is nil where the service is to say none.
	Usage *Usage

	// PieceBytes is how many bytes go over the socket at once, to cut events and characters anywhere. 0 means all.
	PieceBytes int

	// Handler, if set, answers in place of all that. The body of the request was read already.
	Handler http.HandlerFunc
}

// Call is the wish to have a tool called.
type Call struct {
	ID   string
	Name string
	// Arguments is a JSON object, or what a model takes for one.
	Arguments string
}

// Usage counts tokens.
type Usage struct {
	Input, Output, Cached, Reasoning int
}

// Status answers with a status, headers and a body.
func Status(status int, header http.Header, body string) Reply {
	return Reply{Handler: func(w http.ResponseWriter, _ *http.Request) {
		for name, values := range header {
			w.Header()[http.CanonicalHeaderKey(name)] = values
		}
		if w.Header().Get("Content-Type") == "" {
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(status)
		write(w, []byte(body), 0)
	}}
}

// Body answers with status 200, a content type and a body, which goes over the socket in pieces of some bytes; 0 sends it
// whole.
func Body(contentType, body string, pieceBytes int) Reply {
	return Reply{Handler: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		write(w, []byte(body), pieceBytes)
	}}
}

// answer is a reply to a request.
type answer struct {
	Reply
	number int
	model  string
	stored bool // not told to forget, with responses
}

func (a answer) id(prefix string) string { return fmt.Sprintf("%s%d", prefix, a.number) }

func (a answer) finishReason() string {
	usual := "stop"
	if len(a.Calls) > 0 {
		usual = "tool_calls"
	}
	return cmp.Or(a.FinishReason, usual)
}

// words are the pieces in which a text is streamed.
func words(text string) []string {
	if text == "" {
		return nil
	}
	return strings.SplitAfter(text, " ")
}

// halves are the pieces in which arguments are streamed.
func halves(text string) [2]string {
	at := len(text) / 2
	for at > 0 && at < len(text) && text[at]&0xC0 == 0x80 { // JSON strings have whole characters
		at--
	}
	return [2]string{text[:at], text[at:]}
}

// event is an event of a stream; name may be empty.
type event struct {
	name string
	data any
}

// done is the mark at the end of a stream of chat completions.
type done struct{}

// sse writes events down.
func sse(events []event) []byte {
	var b []byte
	for _, e := range events {
		if e.name != "" {
			b = fmt.Appendf(b, "event: %s\n", e.name)
		}
		if _, ok := e.data.(done); ok {
			b = append(b, "data: [DONE]\n\n"...)
			continue
		}
		b = fmt.Appendf(b, "data: %s\n\n", marshal(e.data))
	}
	return b
}
