package offline

import (
	"os"
	"strings"
	"testing"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// from is a message that a provider added.
func from(source, text string) *message.Message {
	m := message.User(text)
	m.SourceID, m.SourceType = source, "context"
	return m
}

// said is a user message that the history brings back.
func said(text string) *message.Message {
	m := message.User(text)
	m.SourceID, m.SourceType = "in_memory", "in_memory_history"
	return m
}

// replied is an answer that the history brings back.
func replied(text string) *message.Message {
	m := message.Assistant(text)
	m.SourceID, m.SourceType = "in_memory", "in_memory_history"
	return m
}

// document is the passages of a file of testdata as the docs plugin adds them.
func document(t testing.TB, file string) []*message.Message {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var out []*message.Message
	for part := range strings.SplitSeq(string(text), "\n---\n") {
		out = append(out, from("docs", part))
	}
	return out
}

// requestFor is a request as a run makes it.
func requestFor(instructions, question string, context ...*message.Message) *host.ChatRequest {
	messages := append([]*message.Message{}, context...)
	if question != "" {
		messages = append(messages, message.User(question))
	}
	return &host.ChatRequest{Instructions: instructions, Messages: messages}
}

// answerTo is the text of the answer with the default config.
func answerTo(t testing.TB, request *host.ChatRequest) string {
	t.Helper()
	response, err := New(Config{}).Complete(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	return response.Text()
}
