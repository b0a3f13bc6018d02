// Package compaction keeps conversations short enough for a model:
//
//	agent, err := host.NewAgent(host.AgentConfig{
//		Client:     client,
//		Compaction: compaction.SlidingWindow{KeepLastGroups: 20}, // before every model call
//		Providers: []host.Provider{
//			compaction.NewProvider(compaction.Config{After: compaction.ToolResult{KeepLast: 2}}), // what is stored
//			host.NewInMemoryHistory(host.HistoryConfig{SkipExcluded: true}),
//		},
//	})
//
// Strategies see a conversation as groups: a message, or a message with tool calls together with the messages that hold
// their results. A group stays or goes as a whole, so a call and its results are never parted. Whatever the strategy,
// these groups stay: the newest that is no system message, that of the last user message of the run's own input while
// that run is under way, and those with a call that waits for approval. Messages with the attribution "important" go only
// after all others that may (semantics: Compaction).
package compaction
