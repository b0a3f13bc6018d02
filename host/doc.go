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
// # Context
//
// A provider is anything with a source id and at least one hook ([BeforeRunHook], [AfterRunHook], [RunFailedHook],
// [SessionCreatedHook], the hooks of the loop), or a [WrappingProvider]. The package knows no WebAssembly: package wasm
// makes providers out of plugin files, and they keep the same rules as those written in Go. A [HistoryProvider] loads and
// stores the conversation; where no provider does, [DefaultHistory] decides. A [VersionedProvider] may be
// replaced while the agent is in use: a run sees one version of it, as of everything that its parts [Pin]. Providers that
// need nothing of each other ([IndependentProvider]) work at the same time before the model is called.
//
// An [Embedder] turns texts into vectors, for those that look for what is near.
//
// # Tools
//
// A model may ask to have tools called: what implements [FunctionTool] is called by the agent (package tool makes one of
// any Go function, and takes those of MCP servers), and others are handed to the caller. Calls of an [ApprovalTool] wait
// for a decision, as an [ApprovalPolicy] and the session's standing rules say: the response carries requests, and the
// answers are input of a later run. [FunctionInvocation] has the limits of the loop.
//
// # Trust
//
// What an [UntrustedSource] adds is labelled ([message.Message.Untrusted]), and so is what a model makes of it, in later
// runs of the session too. A [TrustRequiredTool] waits for approval while such text is before the model;
// [AgentConfig.MarkUntrusted] shows the model which it is.
//
// # Middleware
//
// [Middleware] wraps runs, model calls and tool calls; package middleware has retries, timeouts, budgets, redaction and
// other guards. Package compaction keeps what is sent to the model short. Package structured gets typed values out of
// answers.
//
// # Streams and events
//
// [Agent.Stream] is a run whose answer arrives in pieces. Reading it is what carries the run out, and leaving it ends the
// run. [StreamHooks] see and change what passes. [Emit] and [Request] tell the caller of a run something while it is under
// way.
//
// # Errors
//
// Errors are told apart with errors.Is and errors.As: [HookError], [ModelError] with its kinds such as [ErrRateLimited],
// [ErrApproval], [ErrDuplicateTool], [ErrNoResult], [ErrStopped] and [PanicError]. Code that is handed to an agent may
// panic; what is returned then is an error.
package host
