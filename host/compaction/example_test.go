package compaction_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/compaction"
	"github.com/weft-run/weft/message"
)

func ExampleTruncation() {
	messages := []*message.Message{
		message.System("Be brief."),
		message.User("Hello."), message.Assistant("Hi."),
		message.User("What is a loom?"),
	}
	kept, err := compaction.Truncation{MaxMessages: 3, CompactTo: 2}.Compact(context.Background(), messages, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range kept {
		fmt.Println(m.Role, m.Text())
	}
	// Output:
	// system Be brief.
	// user What is a loom?
}

func ExampleTokenBudget() {
	budget := compaction.TokenBudget{
		MaxTokens:  40,
		Strategies: []compaction.Strategy{compaction.ToolResult{MaxResult: 40}, compaction.SlidingWindow{KeepLastGroups: 10}},
	}
	messages := []*message.Message{
		message.User("Which looms are there?"),
		message.New(message.RoleAssistant, message.FunctionCall{CallID: "1", Name: "search"}),
		message.New(message.RoleTool, message.FunctionResult{CallID: "1", Result: jsontext.Value(`"Hand looms, power looms."`)}),
		message.Assistant("Hand looms and power looms."),
	}
	kept, err := budget.Compact(context.Background(), messages, messages[0])
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range kept {
		fmt.Println(m.Role, m.Text())
	}
	// Output:
	// user Which looms are there?
	// assistant [Tool results: search: Hand looms, power looms.]
	// assistant Hand looms and power looms.
}

func ExampleContextWindow() {
	window := compaction.ContextWindow{WindowTokens: 40, ReserveOutput: new(10)} // 30 for input, 24 before anything goes
	messages := []*message.Message{
		message.User("My name is Ida, and I would like to learn how to weave."), message.Assistant("Nice to meet you, Ida."),
		message.User("What is a loom?"),
	}
	kept, err := window.Compact(context.Background(), messages, messages[2])
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range kept {
		fmt.Println(m.Role, m.Text())
	}
	// Output:
	// assistant Nice to meet you, Ida.
	// user What is a loom?
}

func ExampleSummarization() {
	summariser := &script{answer: func(int, *host.ChatRequest) (*host.Response, error) { // a small model will do
		return host.NewResponse("The user is Ida. She wants to weave."), nil
	}}
	strategy := &compaction.Summarization{Client: summariser, KeepLastGroups: 1, MaxGroups: 2}
	messages := []*message.Message{
		message.User("I am Ida, and I want to weave."), message.Assistant("Nice to meet you, Ida."),
		message.User("What is a loom?"),
	}
	kept, err := strategy.Compact(context.Background(), messages, messages[2])
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range kept {
		fmt.Println(m.Role, m.Text())
	}
	// Output:
	// assistant [Summary of 2 earlier messages]
	// The user is Ida. She wants to weave.
	// user What is a loom?
}

func ExampleCountMessages() {
	words := compaction.TokenizerFunc(func(text string) int { return len(strings.Fields(text)) })
	fmt.Println(compaction.CountMessages(words, message.User("What is a loom?")))
	fmt.Println(compaction.CountMessages(nil, message.User("What is a loom?"))) // nil: the Estimator
	// Output:
	// 8
	// 9
}
