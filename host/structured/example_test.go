package structured_test

import (
	"context"
	"fmt"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/structured"
)

func ExampleRun() {
	type City struct {
		Name    string `json:"name"`
		Country string `json:"country" jsonschema:"the country's English name"`
	}
	client := &scripted{replies: []*host.Response{ // a program has a real model here
		host.NewResponse("Oslo, of course."),
		host.NewResponse(`{"name":"Oslo","country":"Norway"}`),
	}}
	agent, err := host.NewAgent(host.AgentConfig{Client: client})
	if err != nil {
		fmt.Println(err)
		return
	}
	city, _, err := structured.Run[City](context.Background(), agent, host.Text("Where was Munch young?"), host.RunConfig{}, structured.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s in %s, and the model was asked %d times\n", city.Name, city.Country, len(client.requests))
	// Output:
	// Oslo in Norway, and the model was asked 2 times
}

func ExampleMiddleware() {
	type City struct {
		Name string `json:"name"`
	}
	agent, err := host.NewAgent(host.AgentConfig{Client: &scripted{replies: []*host.Response{
		host.NewResponse("```json\n{\"name\":\"Oslo\"}\n```"),
	}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	cities, err := structured.Middleware[City](structured.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	stream := agent.Stream(context.Background(), host.Text("A city in Norway?"), host.RunConfig{
		Middleware: host.Middleware{Chat: []host.ChatMiddleware{cities}},
	})
	for update, err := range stream.Updates() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(update.Text())
	}
	response, _ := stream.Response() // its error was the stream's
	city, err := structured.Decode[City](response)
	fmt.Println("\n"+city.Name, err)
	// Output:
	// {"name":"Oslo"}
	// Oslo <nil>
}
