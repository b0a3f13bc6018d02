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
