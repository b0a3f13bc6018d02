package offline

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

func TestStreamAddsUpToComplete(t *testing.T) {
	for _, q := range []string{"What does before_run receive?", "What is a grant? And effects?", "Hello", "Why?", "", "What is the capital of France?"} {
		request := requestFor("The user's name is Ada.", q, document(t, "abi.txt")...)
		whole, err := New(Config{}).Complete(t.Context(), request)
		require.NoError(t, err)
		assert.Equal(t, host.FinishStop, whole.FinishReason)
		require.Len(t, whole.Messages, 1)
		assert.Equal(t, message.RoleAssistant, whole.Messages[0].Role)

		var text strings.Builder
		var updates []*host.Update
		for u, err := range New(Config{}).Stream(t.Context(), request) {
			require.NoError(t, err)
			assert.Len(t, strings.Fields(u.Text()), 1, "an update is a word")
			text.WriteString(u.Text())
			updates = append(updates, u)
		}
		assert.Equal(t, whole.Text(), text.String())
		for i, u := range updates {
			last := i == len(updates)-1
			assert.Equal(t, last, u.Usage != nil)
			assert.Equal(t, last, u.FinishReason == host.FinishStop)
		}
		assert.Equal(t, whole.Usage, updates[len(updates)-1].Usage)
	}
}

func TestUsageCountsInstructionsAndMessages(t *testing.T) {
	response, err := New(Config{}).Complete(t.Context(), requestFor("Be nice.", "Hello there"))
	require.NoError(t, err)
	assert.Equal(t, &host.Usage{InputTokens: 1 + 2 + 2 + 2, OutputTokens: CountTokens(response.Text())}, response.Usage)
}

func TestStreamStopsWithTheConsumer(t *testing.T) {
	n := 0
	for range New(Config{}).Stream(t.Context(), requestFor("", "Hello")) {
		if n++; n == 3 {
			break // the iterator panics by itself where it yields once more
		}
	}
	assert.Equal(t, 3, n)
}

func TestStreamStopsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	words, failures := 0, 0
	for u, err := range New(Config{}).Stream(ctx, requestFor("", "Hello")) {
		if err != nil {
			assert.ErrorIs(t, err, context.Canceled)
			assert.Nil(t, u)
			failures++
			continue
		}
		if words++; words == 2 {
			cancel()
		}
	}
	assert.Equal(t, 2, words)
	assert.Equal(t, 1, failures)

	_, err := New(Config{}).Complete(ctx, requestFor("", "Hello"))
	assert.ErrorIs(t, err, context.Canceled)
	for _, err := range New(Config{}).Stream(ctx, requestFor("", "Hello")) {
		assert.ErrorIs(t, err, context.Canceled)
	}
}

func TestLimitsOfAnAnswer(t *testing.T) {
	request := requestFor("", "What about plugins?", from("a", "Plugins are files. Plugins may be large. Small plugins are better. All plugins are metered."))
	for _, test := range []struct {
		config Config
		quotes int
	}{
		{Config{}, DefaultMaxSentences},
		{Config{MaxSentences: -1, MaxLength: -1}, DefaultMaxSentences},
		{Config{MaxSentences: 1}, 1},
		{Config{MaxSentences: 9, MaxLength: 45}, 2},
	} {
		response, err := New(test.config).Complete(t.Context(), request)
		require.NoError(t, err)
		assert.Equal(t, test.quotes, strings.Count(strings.ToLower(response.Text()), "plugins"), response.Text())
	}
	long := requestFor("", "What is a plugin?", from("a", "A plugin is "+strings.Repeat("very ", 500)+"long."))
	response, err := New(Config{MaxLength: 20}).Complete(t.Context(), long)
	require.NoError(t, err)
	assert.Equal(t, "“A plugin is very…” — a", response.Text())
}

func TestTheQuestionIsTheLastMessageOfTheUsersOwn(t *testing.T) {
	const fact = "The gate is red."
	for name, messages := range map[string][]*message.Message{
		"context after it":    {message.User("Which colour is the gate? red?"), from("notes", fact)},
		"an answer after it":  {from("notes", fact), message.User("Is the gate red?"), message.Assistant("Let me see.")},
		"an image after it":   {from("notes", fact), message.User("Is the gate red?"), message.New(message.RoleUser, message.URI{URI: "data:,"})},
		"a question before":   {from("notes", fact), message.User("What is a plugin?"), message.User("Is the gate red?")},
		"history before":      {from("notes", fact), said("What is a plugin?"), message.User("Is the gate red?")},
		"nothing, and a call": {nil, from("notes", fact), message.User("Is the gate red?"), message.New(message.RoleTool, message.FunctionResult{CallID: "1", Result: jsontext.Value(`1`)})},
	} {
		assert.Equal(t, "“The gate is red.” — notes", answerTo(t, &host.ChatRequest{Messages: messages}), name)
	}
	for name, request := range map[string]*host.ChatRequest{
		"no request":         nil,
		"no message":         {Instructions: "Be kind."},
		"context only":       {Messages: []*message.Message{from("notes", fact), said("Is the gate red?"), message.Assistant("?")}},
		"no text":            {Messages: []*message.Message{message.User(" \n"), nil}},
		"no content":         {Messages: []*message.Message{{Role: message.RoleUser}}},
		"a role of its own":  {Messages: []*message.Message{{Role: "critic", Contents: []message.Content{message.Text{Text: "Why?"}}}}},
		"reasoning, no text": {Messages: []*message.Message{message.New(message.RoleUser, message.Reasoning{Text: "Why?"})}},
	} {
		assert.Equal(t, noQuestion, answerTo(t, request), name)
	}
}

func TestHistoryDoesNotQuoteQuestionsOrAnswers(t *testing.T) {
	request := requestFor("", "Is the gate red?", said("Is the gate red?"), replied("The gate is red."))
	assert.Equal(t, nothing+" I looked at in_memory (1 message).", answerTo(t, request))
	request = requestFor("", "Is the gate red?", message.User("The gate is red."), message.Assistant("Noted."))
	assert.Equal(t, "“The gate is red.” — earlier in this conversation", answerTo(t, request))
}

func TestPlaces(t *testing.T) {
	const fact = "The gate is red."
	for text, want := range map[string]string{
		fact:                                   "docs",
		"[a.md § Gates]\n" + fact:              "a.md § Gates (docs)",
		"[a.md § *Gates* of `x`]\r\n\n" + fact: "a.md § Gates of `x` (docs)",
		"[a.md § ]\n" + fact:                   "a.md (docs)",
		"[x] y\n" + fact:                       "docs",
		"[a.md § B]\nNo.\n[b.md § C]\n" + fact: "b.md § C (docs)",
	} {
		assert.Equal(t, "“The gate is red.” — "+want, answerTo(t, requestFor("", "Is the gate red?", from("docs", text))), "%q", text)
	}
}

func TestClientIsSafeForManyGoroutines(t *testing.T) {
	client, request := New(Config{}), requestFor(clock, "What does before_run receive?", document(t, "abi.txt")...)
	want := answerTo(t, request)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				response, err := client.Complete(t.Context(), request)
				if assert.NoError(t, err) {
					assert.Equal(t, want, response.Text())
				}
			}
		})
	}
	group.Wait()
}
