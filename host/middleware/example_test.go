package middleware_test

import (
	"context"
	"fmt"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/middleware"
)

func ExampleNewPII() {
	agent, err := host.NewAgent(host.AgentConfig{
		Client:     says("Write to john", "@example.com or call +49 30 12", "34567."),
		Middleware: middleware.NewPII(middleware.PIIConfig{}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for update, err := range agent.Stream(context.Background(), host.Text("How do I reach him?"), host.RunConfig{}).Updates() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%q\n", update.Text())
	}
	// Output:
	// "Write to "
	// "[EMAIL] or call "
	// "[PHONE]"
	// "."
}

func ExampleNewBudget() {
	agent, err := host.NewAgent(host.AgentConfig{
		Client:     says("Hello."),
		Middleware: middleware.NewBudget(middleware.BudgetConfig{Session: middleware.Limits{ModelCalls: 2}}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	session := agent.CreateSession("")
	for range 3 {
		_, err = agent.Run(context.Background(), host.Text("hi"), host.RunConfig{Session: session})
	}
	fmt.Println(err)
	// Output: budget used up: the session has used 2 model_calls, and may use 2
}
