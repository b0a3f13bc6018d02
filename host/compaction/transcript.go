package compaction

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/message"
)

// transcript is a conversation as a model reads it that is to summarise it: an object of JSON a line. Quotes, line ends
// and angle brackets in a text are escaped, so no text can end its line or write a border.
type transcript struct {
	most        int // bytes of a line
	mostSummary int // bytes of the line of a summary, which is never cut
	lines       []string
	mark        summaryMark
	names       map[string]string // of the tools, by call id
}

// line is one object of a transcript.
type line struct {
	Summary   string `json:"summary,omitzero"`
	From      string `json:"from,omitzero"`
	Name      string `json:"name,omitzero"`
	Text      string `json:"text,omitzero"`
	Calls     string `json:"calls,omitzero"`
	Arguments string `json:"arguments,omitzero"`
	ResultOf  string `json:"result_of,omitzero"`
	Result    string `json:"result,omitzero"`
	Error     string `json:"error,omitzero"`
	File      string `json:"file,omitzero"`
	Decision  string `json:"decision,omitzero"`
	Other     string `json:"other,omitzero"`
}

// add puts a message at the end.
func (t *transcript) add(m *message.Message) {
	if mark, ok := markOf(m); ok {
		if text := render(line{Summary: m.Text()}); len(text) <= t.mostSummary {
			t.lines = append(t.lines, text)
			t.mark.Messages += mark.Messages
			t.mark.Cut += mark.Cut
			return
		}
	}
	t.mark.Messages++
	before := len(t.lines)
	for _, c := range m.Contents {
		t.addContent(line{From: string(m.Role), Name: t.short(m.AuthorName)}, c)
	}
	if len(t.lines) == before {
		t.addLine(&line{From: string(m.Role)}, new(string), "")
	}
}

func (t *transcript) addContent(l line, c message.Content) {
	switch c := c.(type) {
	case message.Text:
		t.addLine(&l, &l.Text, c.Text)
	case message.FunctionCall:
		t.remember(c)
		l.Calls = t.short(c.Name)
		t.addLine(&l, &l.Arguments, string(c.Arguments))
	case message.FunctionResult:
		result := resultText(c)
		if c.Error != result {
			l.Error = t.short(c.Error)
		}
		l.ResultOf = t.short(t.tool(c.CallID))
		t.addLine(&l, &l.Result, result)
	case message.URI:
		t.addLine(&l, &l.File, fileName(c))
	case message.Error:
		t.addLine(&l, &l.Error, c.Message)
	case message.ApprovalRequest:
		t.remember(c.Call)
		l.Calls, l.Decision = t.short(c.Call.Name), "asked for"
		t.addLine(&l, &l.Arguments, string(c.Call.Arguments))
	case message.ApprovalResponse:
		l.Calls, l.Decision = t.short(c.Call.Name), "rejected"
		if c.Approved {
			l.Decision = "approved"
		}
		t.addLine(&l, &l.Arguments, string(c.Call.Arguments))
	case message.Unknown:
		t.addLine(&l, &l.Other, string(c.JSON))
	}
}

// addLine puts l at the end with text in one of its fields, cut so far that the line is not too long.
func (t *transcript) addLine(l *line, field *string, text string) {
	for size := t.most; ; size = size * 3 / 4 {
		shown, cut := clip(text, size)
		*field = shown
		if rendered := render(*l); len(rendered) <= t.most || size == 0 {
			t.lines = append(t.lines, rendered)
			if cut {
				t.mark.Cut++
			}
			return
		}
	}
}

// short is a text that stands beside another in a line. Three of them leave room for it, however they are escaped.
func (t *transcript) short(text string) string {
	shown, cut := clip(text, t.most/24)
	if cut {
		t.mark.Cut++
	}
	return shown
}

func (t *transcript) remember(c message.FunctionCall) {
	if t.names == nil {
		t.names = map[string]string{}
	}
	t.names[c.CallID] = c.Name
}

func (t *transcript) tool(callID string) string {
	if name, ok := t.names[callID]; ok {
		return name
	}
	return callID
}

// render is the JSON of a line. Bytes that are no UTF-8 become U+FFFD.
func render(l line) string {
	b, err := json.Marshal(l, jsontext.EscapeForHTML(true), jsontext.EscapeForJS(true), jsontext.AllowInvalidUTF8(true))
	if err != nil { // nothing in a line can fail
		return "{}"
	}
	return string(b)
}

// fileName names a resource. What a data: URI carries along is not shown.
func fileName(u message.URI) string {
	if head, data, ok := strings.Cut(u.URI, ","); ok && strings.HasPrefix(head, "data:") {
		return head + ", " + strconv.Itoa(len(data)) + " bytes"
	}
	return u.URI
}

// clip leaves out the middle of a text that has more bytes than most, and says there how many it left out. It reports
// whether it did.
func clip(text string, most int) (string, bool) {
	if len(text) <= most {
		return text, false
	}
	const note = " [… %d bytes left out …] "
	room := most - len(fmt.Sprintf(note, len(text)))
	if room < 0 {
		return text[:boundary(text, max(0, most-len("…")))] + "…", true
	}
	head := boundary(text, room*3/4)
	tail := len(text) - (room - head)
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return text[:head] + fmt.Sprintf(note, tail-head) + text[tail:], true
}

// boundary is the last place up to n where a character begins.
func boundary(text string, n int) int {
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}
