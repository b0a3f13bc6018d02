package offline

import (
	"context"
	"regexp"
	"strings"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// origin is where a sentence comes from.
type origin int

const (
	fromInstructions origin = iota
	fromContext
	fromHistory
)

// maxHistory is how many of the latest user messages of a conversation are looked through.
const maxHistory = 200

// earlier is the place of what the user said in this conversation.
const earlier = "earlier in this conversation"

// passage is a text that stands in one place.
type passage struct {
	origin origin
	// source is the id of the provider that the text comes from, place where it stands; either may be empty.
	source, place string
	// rank is the position among the passages of its source.
	rank      int
	sentences []sentence
}

// cite names the passage under a quote.
func (p *passage) cite() string {
	switch {
	case p.origin == fromInstructions:
		return "instructions"
	case p.place == "":
		return p.source
	case p.source == "":
		return p.place
	}
	return p.place + " (" + p.source + ")"
}

// looked is a source that an answer was looked for in, and in how many of its messages.
type looked struct {
	source   string
	messages int
}

// reading is a request as it is answered.
type reading struct {
	question string // the last user message that is no context
	asked    bool   // there is one
	passages []*passage
	sources  []looked
}

// placeLine is the first line of a passage that says where it stands: [FILE § HEADING].
var placeLine = regexp.MustCompile(`^\s*\[([^\[\]]*§[^\[\]]*)\]\s*$`)

// read sorts a request. It fails only with ctx.
func read(ctx context.Context, request *host.ChatRequest) (*reading, error) {
	r := &reading{}
	ask := lastQuestion(request.Messages)
	if ask >= 0 {
		r.question, r.asked = request.Messages[ask].Text(), true
	}
	if lines := strings.TrimSpace(request.Instructions); lines != "" {
		p := &passage{origin: fromInstructions}
		for line := range strings.Lines(lines) { // each line is an instruction of its own
			p.sentences = append(p.sentences, sentences(line)...)
		}
		r.passages = append(r.passages, p)
		r.sources = append(r.sources, looked{source: "the instructions"})
	}
	skip := historyToSkip(request.Messages, ask)
	for i, m := range request.Messages {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if m == nil || i == ask {
			continue
		}
		if !conversation(m) {
			if m.Role != message.RoleTool {
				r.addContext(m)
			}
			continue
		}
		if m.Role == message.RoleUser && i < ask {
			if skip--; skip < 0 {
				r.addHistory(m)
			}
		}
	}
	return r, ctx.Err()
}

// lastQuestion is the position of the last user message that has a text and that no provider added; -1 for none.
func lastQuestion(messages []*message.Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if m := messages[i]; m != nil && m.Role == message.RoleUser && m.SourceID == "" && strings.TrimSpace(m.Text()) != "" {
			return i
		}
	}
	return -1
}

// conversation tells what was said from what providers added to it.
func conversation(m *message.Message) bool {
	return m.SourceID == "" || m.SourceType == "history" || strings.HasSuffix(m.SourceType, "_history")
}

func historyToSkip(messages []*message.Message, ask int) int {
	n := 0
	for i := 0; i < ask; i++ {
		if m := messages[i]; m != nil && m.Role == message.RoleUser && conversation(m) {
			n++
		}
	}
	return n - maxHistory
}

// addContext takes in what a provider added. Lines that name a place cut it into passages.
func (r *reading) addContext(m *message.Message) {
	text := m.Text()
	if strings.TrimSpace(text) == "" {
		return
	}
	rank := r.look(m.SourceID)
	place, start := "", 0
	add := func(body string) {
		if s := sentences(body); len(s) > 0 {
			r.passages = append(r.passages, &passage{origin: fromContext, source: m.SourceID, place: place, rank: rank, sentences: s})
			rank++
		}
	}
	at := 0
	for line := range strings.Lines(text) {
		if found := placeLine.FindStringSubmatch(line); found != nil {
			add(text[start:at])
			place, start = cleanPlace(found[1]), at+len(line)
		}
		at += len(line)
	}
	add(text[start:])
}

// cleanPlace is a place without its mark where one side of it is empty.
func cleanPlace(place string) string {
	return strings.TrimSpace(strings.Trim(plain(place), "§ "))
}

// addHistory takes in what the user stated earlier. What the user asked answers nothing.
func (r *reading) addHistory(m *message.Message) {
	p := &passage{origin: fromHistory, source: m.SourceID, place: earlier, rank: r.look(m.SourceID)}
	for _, s := range sentences(m.Text()) {
		if !interrogative(s.text) {
			p.sentences = append(p.sentences, s)
		}
	}
	if len(p.sentences) > 0 {
		r.passages = append(r.passages, p)
	}
}

// look notes that a message of a source was looked through, and returns how many were before it.
func (r *reading) look(source string) int {
	if source == "" {
		source = "this conversation"
	}
	for i := range r.sources {
		if r.sources[i].source == source {
			r.sources[i].messages++
			return r.sources[i].messages - 1
		}
	}
	r.sources = append(r.sources, looked{source: source, messages: 1})
	return 0
}
