package openai_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/model/openai"
	"github.com/weft-run/weft/host/model/openai/openaitest"
)

func Example() {
	server := openaitest.New(openaitest.Reply{Text: "It is noon."}) // stands for the service
	defer server.Close()

	client, err := openai.New(openai.Config{BaseURL: server.URL, Model: "gpt-5-mini", APIKey: "sk-…"})
	if err != nil {
		panic(err)
	}
	defer client.Close()
	agent, err := host.NewAgent(host.AgentConfig{Name: "guide", Instructions: "Be brief.", Client: client})
	if err != nil {
		panic(err)
	}
	response, err := agent.Run(context.Background(), host.Text("What time is it?"), host.RunConfig{})
	if err != nil {
		panic(err)
	}
	fmt.Println(response.Text())
	// Output: It is noon.
}

func ExampleClient_Stream() {
	server := openaitest.New(openaitest.Reply{Text: "It is noon.", Usage: &openaitest.Usage{Input: 9, Output: 4}})
	defer server.Close()
	client, err := openai.New(openai.Config{BaseURL: server.URL, Model: "gpt-5-mini", API: openai.Responses})
	if err != nil {
		panic(err)
	}
	defer client.Close()
	request := &host.ChatRequest{Messages: host.Text("What time is it?")}
	for update, err := range client.Stream(context.Background(), request) {
		if err != nil {
			panic(err)
		}
		fmt.Printf("%q\n", update.Text())
		if update.Usage != nil {
			fmt.Println(update.FinishReason, *update.Usage)
		}
	}
	// Output:
	// "It "
	// "is "
	// "noon."
	// ""
	// stop {9 4 0 0}
}

// An error tells what to do about it.
func Example_errors() {
	server := openaitest.New(openaitest.Status(http.StatusTooManyRequests, http.Header{"Retry-After": {"20"}}, `{"error":{"message":"Slow down."}}`))
	defer server.Close()
	client, err := openai.New(openai.Config{BaseURL: server.URL, Model: "gpt-5-mini"})
	if err != nil {
		panic(err)
	}
	defer client.Close()
	_, err = client.Complete(context.Background(), &host.ChatRequest{Messages: host.Text("hi")})
	if m, ok := errors.AsType[*host.ModelError](err); ok && errors.Is(err, host.ErrRateLimited) {
		fmt.Println("again in", m.RetryAfter)
	}
	// Output: again in 20s
}
