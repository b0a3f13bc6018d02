// Package host runs agents: an agent has a model, instructions, tools, and providers that add context to each run and
// see its response.
//
//	agent, err := host.NewAgent(host.AgentConfig{
//		Name:         "guide",
//		Instructions: "Answer in one sentence.",
//		Client:       offline.New(offline.Config{}),
//		Providers:    []host.Provider{clock, docs},
//	})
//	session := agent.CreateSession("")
//	response, err := agent.Run(ctx, host.Text("What is a weft?"), host.RunConfig{Session: session})
//	fmt.Println(response.Text())
//
// An [Agent] is behaviour and is never changed by a run; a [Session] is data: it holds each provider's state and is
// saved and restored as JSON. Both may be used by many goroutines.
//
// A model may ask to have tools called: what implements [FunctionTool] is called by the agent, calls of an [ApprovalTool]
// wait for a decision, and others are handed to the caller. [Middleware] wraps runs, model calls and tool calls.
//
// A provider is anything with a source id and at least one hook ([BeforeRunHook], [AfterRunHook], [RunFailedHook],
// [SessionCreatedHook]), or a [WrappingProvider]. The package knows no WebAssembly: package wasm makes providers out of
// plugin files, and they keep the same rules as those written in Go.
package host
