package main

import (
	"context"
	"sync/atomic"
)

// What is said in every framework.
const (
	question    = "a question of some length, as people ask them"
	reply       = "ok"
	input       = "hi"
	contextText = "context"
	toolName    = "t"
	toolResult  = "t-ok"
	callID      = "1"
)

// contexts is how many providers add a message to each run. The history is the fifth provider.
const contexts = 4

// framework is one row of the table.
type framework struct {
	name string
	// open makes the agent.
	open func(ctx context.Context, s *script) (agent, error)
}

// frameworks are all that are compared. Weft is first: the others' ratio is to it.
func frameworks() []framework {
	return []framework{{"weft", openWeft}, {"eino", openEino}, {"adk-go", openADK}}
}

// agent is an agent of one framework.
type agent interface {
	// converse returns a session that holds history messages, questions and replies in turn. history is even.
	converse(ctx context.Context, history int) (conversation, error)
}

// conversation is one session.
type conversation interface {
	// turn sends the input and returns the answer. What was said is stored.
	turn(ctx context.Context) (string, error)
	// rewind takes back what the turns stored, so that the next one finds the history as long as the first did.
	rewind(ctx context.Context) error
	// stored counts the messages that are stored, the history among them.
	stored(ctx context.Context) (int, error)
}

// script plays the model and the tool: the model asks for the tool, and once it has the result it answers.
type script struct {
	// modelCalls and toolCalls count, so that a test can see that the round was made.
	modelCalls, toolCalls atomic.Int64
	// wrapped counts calls of the wrappers around the model.
	wrapped atomic.Int64
	// watch, where not nil, gets the texts of each request. A call and its result are empty texts.
	watch func(texts []string)
}

// saw notes one request; text gives the text of its i-th message.
func (s *script) saw(n int, text func(i int) string) {
	s.modelCalls.Add(1)
	if s.watch == nil {
		return
	}
	texts := make([]string, n)
	for i := range texts {
		texts[i] = text(i)
	}
	s.watch(texts)
}

// tool is the tool's work.
func (s *script) tool() string {
	s.toolCalls.Add(1)
	return toolResult
}

// seeds yields the texts of a history: who says it, and what.
func seeds(history int) func(yield func(byUser bool, text string) bool) {
	return func(yield func(bool, string) bool) {
		for i := range history {
			text := question
			if i%2 == 1 {
				text = reply
			}
			if !yield(i%2 == 0, text) {
				return
			}
		}
	}
}
