package main

import (
	"strings"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

// instructions are what the model is told where the operator says nothing else.
const instructions = `You keep the summary of a conversation between a user and an assistant. You get the summary so far and
the messages that came after it. Write the new summary: what the user wants, facts and decisions, names, numbers and dates as
they were given, what is still open. Leave out greetings. Write plain sentences, no headings, and nothing but the summary.`

// mostAtOnce is how many messages one update takes in, so that it stays within what a host gives and a model reads.
const mostAtOnce = 400

// update takes in messages that came since the last summary, up to the last that are to stay as they are.
func (c *config) update(kept state, count int) (state, error) {
	n := min(count-c.Keep-kept.Covered, mostAtOnce)
	pages, err := pdk.GetMessages(pdk.Range{SourceID: c.Source, Start: kept.Covered, Count: n + 1})
	if err != nil {
		return kept, err
	}
	messages := pages[0].Messages
	// What stays begins with a word of the user's: so no call of a tool is parted from its result.
	end := min(n, len(messages)-1)
	for end > 0 && messages[end].Role != pdk.RoleUser {
		end--
	}
	if end <= 0 {
		return kept, nil
	}
	response, err := pdk.Complete(pdk.Completion{
		Instructions: c.Instructions,
		Messages:     []pdk.Message{pdk.User(transcript(kept.Text, messages[:end]))},
		Options:      json.Marshal(options{c.MaxTokens}),
	})
	if err != nil {
		return kept, err
	}
	text := ""
	for i := range response.Messages {
		text += response.Messages[i].Text()
	}
	if text = strings.TrimSpace(text); text == "" {
		return kept, pdk.NewError(pdk.CodeModel, "the model wrote nothing")
	}
	return state{Text: text, Covered: kept.Covered + end}, nil
}

// options are those of the model's call.
type options struct{ maxTokens int }

// WriteJSON writes the options.
func (o options) WriteJSON(w *json.Writer) {
	w.Object(func() { w.Name("max_tokens").Int(o.maxTokens) })
}

// transcript is what the model reads. What was said is data in it: it cannot pass for an instruction of the plugin's.
func transcript(summary string, messages []pdk.Message) string {
	var b strings.Builder
	if summary != "" {
		b.WriteString("Summary so far:\n" + summary + "\n\n")
	}
	b.WriteString("Messages since then:\n")
	for i := range messages {
		if text := messages[i].Text(); text != "" {
			b.WriteString(string(messages[i].Role) + ": " + text + "\n")
		}
		for _, content := range messages[i].Contents {
			switch content := content.(type) {
			case pdk.FunctionCall:
				b.WriteString("assistant calls " + content.Name + " with " + shortened(string(content.Arguments)) + "\n")
			case pdk.FunctionResult:
				b.WriteString("result: " + shortened(string(content.Result)) + "\n")
			}
		}
	}
	return b.String()
}

// longestValue is how much of arguments and results goes into a transcript.
const longestValue = 500

func shortened(text string) string {
	if len(text) <= longestValue {
		return text
	}
	return strings.ToValidUTF8(text[:longestValue], "") + "…"
}
