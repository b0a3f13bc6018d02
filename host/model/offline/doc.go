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
// stands. Where no sentence shares enough of them it says so. Where a question names a tool, it calls that.
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
// # Calling tools
//
// Where the question names a tool that is offered (its name as a word, in any case, with _ and - also read as spaces),
// the answer is a call of it in place of a text: several calls in one reply, up to 32, in the order named, where it names
// several. The arguments are read from the question by the tool's JSON Schema:
//
//	get_weather city=Paris days=3            a name, an equals sign and a word
//	get_weather city: New York, days: 3      a name, a colon and a text up to the next comma
//	get weather city "New York" days 3       a name and a value of its type
//	get_weather {"city":"Paris","days":3}    the arguments as JSON
//	get_weather for Paris, 3 days            the rest, for the one text that must be there; a number before its name
//	add 2 and 3                              numbers, true and false, and quoted texts, in order, for what is required
//
// Values of an enum are found wherever they stand as words, the elements of a list between commas and "and". Behind the
// name of another tool its own arguments begin; what names no tool and no argument is to be quoted. Where something that
// is required is missing, or what was given does not fit the schema, nothing is called: the answer says what is wanted
// and how to say it. Only the question names tools: what providers add, and what was said before, calls nothing.
//
// The option tool_choice is kept. With none there are no calls; with required the tool that shares the most words with
// the question is called where it names none, or the function that the option names. Results that came since the last
// message of the user are quoted, and nothing is called again:
//
//	“Sunny, 21 °C.” — get_weather
//
// The same request always has the same answer. All other options are passed over.
//
// # Vectors
//
// [Client.Embed] makes vectors of 256 numbers that tell how many words and trigrams of letters two texts share.
package offline
