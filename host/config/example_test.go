package config_test

import (
	"context"
	"fmt"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/config"
)

func Example() {
	ctx := context.Background()
	c, err := config.Parse("weft.yaml", []byte(`
name: guide
instructions: Answer in one sentence.
model: offline
providers:
  - history: memory
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	built, err := c.Build(ctx, config.BuildOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = built.Close(ctx) }() // no run is under way

	session := built.Agent.CreateSession("")
	if _, err := built.Agent.Run(ctx, host.Text("My name is Ada."), host.RunConfig{Session: session}); err != nil {
		fmt.Println(err)
	}
	fmt.Println(built.Agent.Name(), built.Sources)
	// Output: guide [in_memory]
}

func ExampleErrors() {
	_, err := config.Parse("weft.yaml", []byte("nam: guide\noptions:\n  top_p: 2\nproviders:\n  - history: memori\n"))
	fmt.Println(err)
	// Output:
	// weft.yaml has 3 faults:
	// weft.yaml:1:1: unknown key "nam": did you mean name?
	// weft.yaml:3:10: options.top_p: a number from 0 to 1 was wanted, and 2 is there
	// weft.yaml:5:14: providers[0].history: memory was wanted, and "memori" is there
}

func ExampleBuildOptions() {
	ctx := context.Background()
	c, err := config.Parse("weft.yaml", []byte(`
model: {provider: openai, name: qwen3, base_url: "https://llm.example.com/v1", api_key_env: LLM_KEY}
compaction: {strategy: context_window, window_tokens: 32000}
middleware:
  - builtin: pii
  - builtin: retry
    max_attempts: 5
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	environment := map[string]string{} // a program gives os.Getenv
	_, err = c.Build(ctx, config.BuildOptions{Getenv: func(name string) string { return environment[name] }})
	fmt.Println(err)

	environment["LLM_KEY"] = "opensesame"
	built, err := c.Build(ctx, config.BuildOptions{Getenv: func(name string) string { return environment[name] }})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = built.Close(ctx) }() // no run is under way
	fmt.Println(built.Agent.Name(), "is ready")
	// Output:
	// weft.yaml:2:93: model.api_key_env: the environment variable LLM_KEY, which holds the key of the model's service, is not set or empty: set it, or name another one
	// agent is ready
}
