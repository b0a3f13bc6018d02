package offline_test

import (
	"context"
	"fmt"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/model/offline"
	"github.com/weft-run/weft/message"
)

func Example() {
	passage := message.User("[abi.md § Input]\n`before_run` receives the input and its own state. Unknown fields are ignored.")
	passage.SourceID = "docs" // the host stamps what a provider adds

	client := offline.New(offline.Config{})
	for _, question := range []string{"What does before_run receive?", "Who am I?", "What is the capital of France?"} {
		response, err := client.Complete(context.Background(), &host.ChatRequest{
			Instructions: "The user's name is Ada.",
			Messages:     []*message.Message{passage, message.User(question)},
		})
		if err != nil {
			panic(err)
		}
		fmt.Println(response.Text())
	}
	// Output:
	// “`before_run` receives the input and its own state.” — abi.md § Input (docs)
	// Your name is Ada. — instructions
	// Nothing in my context answers that. I looked at the instructions and docs (1 message).
}

func ExampleClient_Stream() {
	client := offline.New(offline.Config{})
	request := &host.ChatRequest{Messages: host.Text("Thanks!")}
	for update, err := range client.Stream(context.Background(), request) {
		if err != nil {
			panic(err)
		}
		fmt.Printf("%q\n", update.Text())
	}
	// Output:
	// "You "
	// "are "
	// "welcome."
}

func ExampleCountTokens() {
	fmt.Println(offline.CountTokens("What does before_run receive?"))
	// Output: 7
}
