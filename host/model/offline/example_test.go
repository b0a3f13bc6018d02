package offline_test

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/model/offline"
	"github.com/weft-run/weft/host/schema"
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

// weather is a tool that knows one kind of weather.
type weather struct{}

func (weather) Definition() host.ToolDefinition {
	takes, err := schema.Parse([]byte(`{
		"type": "object", "required": ["city"],
		"properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}`))
	if err != nil {
		panic(err)
	}
	return host.ToolDefinition{Name: "get_weather", Description: "Tells the weather of a city.", Parameters: takes}
}

func (weather) Call(_ context.Context, arguments jsontext.Value) (jsontext.Value, error) {
	in := struct {
		City string `json:"city"`
		Days int    `json:"days"`
	}{Days: 1}
	if err := json.Unmarshal(arguments, &in); err != nil {
		return nil, err
	}
	return json.Marshal(fmt.Sprintf("%s: sun for %d days.", in.City, in.Days))
}

// A question that names a tool has it called, with the arguments that stand in the question.
func Example_tools() {
	agent, err := host.NewAgent(host.AgentConfig{
		Name: "guide", Client: offline.New(offline.Config{}), Tools: []host.Tool{weather{}},
	})
	if err != nil {
		panic(err)
	}
	for _, question := range []string{"Get weather for New York for 3 days, please.", "get_weather city=Paris", "get_weather"} {
		response, err := agent.Run(context.Background(), host.Text(question), host.RunConfig{})
		if err != nil {
			panic(err)
		}
		fmt.Println(response.Text())
	}
	// Output:
	// “New York: sun for 3 days.” — get_weather
	// “Paris: sun for 1 days.” — get_weather
	// To call get_weather I need city (a text). Say it like this: `get_weather city="…"`
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
