// Package compaction keeps conversations short enough for a model:
//
//	agent, err := host.NewAgent(host.AgentConfig{
//		Client:     client,
//		Compaction: compaction.ContextWindow{WindowTokens: 128_000}, // before every model call
//		Providers: []host.Provider{
//			compaction.NewProvider(compaction.Config{After: &compaction.Summarization{Client: small}}), // what is stored
//			host.NewInMemoryHistory(host.HistoryConfig{SkipExcluded: true}),
//		},
//	})
//
// [SlidingWindow] and [Truncation] go by numbers, [SelectiveToolCall] and [ToolResult] by tool calls, and [Summarization]
// has a model write down what goes. [TokenBudget] applies several until the messages fit, and [ContextWindow] is a ready
// set for a model's window. Both count with a [Tokenizer]: an [Estimator] unless another is given, such as those of
// package openaitokens, which are exact.
//
// Strategies see a conversation as groups: a message, or a message with tool calls together with the messages that hold
// their results. A group stays or goes as a whole, so a call and its results are never parted. Whatever the strategy,
// these groups stay: the newest that is no system message, that of the last user message of the run's own input while
// that run is under way, and those with a call that waits for approval. Messages with the attribution "important" go only
// after all others that may, and summaries only after all others but those.
//
// In a run, what is left out is only left out of one model call. At the boundary, a [Provider] marks what is stored and
// removes none of it; a second history, which no provider compacts, may keep the conversation without marks and summaries.
package compaction
