// Package offline is a chat client without network and without weights.
//
//	agent, err := host.NewAgent(host.AgentConfig{
//		Name:      "guide",
//		Client:    offline.New(offline.Config{}),
//		Providers: []host.Provider{clock, docs},
//	})
//
// It is there so that everything else can be seen on a bare machine: what a provider adds to a run, what a middleware
// takes away, how an answer streams. It is no language model. It understands nothing, writes nothing of its own and knows
// nothing: it quotes the sentences of its context that share the most words with the question, and names where each
// stands. Where no sentence shares enough of them it says so.
//
// # What it answers from
//
// The question is the last message with role user that no provider added. Candidates for a quote are the sentences of
// the instructions, of the messages that providers added, and of what the user stated earlier in the conversation (in
// the latest 200 messages of it); what the assistant said earlier is not quoted again. Text is read as Markdown: list items, rows of tables and lines
// of code count as sentences. A line such as
//
//	[guide.md § Installing]
//
// above a text says where the text stands, and is what the quote is attributed to.
//
// # The form of an answer
//
// A line per place, best first, at most three sentences together; sentences that do not follow each other are joined by
// an ellipsis:
//
//	“`before_run` receives the input and its own state.” — abi.md § Input (docs)
//
// Some questions are about the user or the moment, and are told apart by their words: the user's name ("Your name is
// Ada. — instructions"), the user's preferences, the date and the time. A message that asks nothing is acknowledged, a
// greeting is answered with a line that says what this is. All of it works by English words; in other languages a
// question is found by its question mark, and quoted by its words alone.
//
// The same request always has the same answer. Options, tools and function results are passed over.
package offline
