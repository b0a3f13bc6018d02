// Package openai is a chat client for every endpoint that speaks the protocol of OpenAI: the service itself, and the many
// servers and gateways that copied it.
//
//	client, err := openai.New(openai.Config{Model: "gpt-5-mini", APIKey: key})
//	if err != nil {
//		return err
//	}
//	defer client.Close()
//	agent, err := host.NewAgent(host.AgentConfig{Name: "guide", Client: client})
//
// A server on one's own machine needs no key:
//
//	client, err := openai.New(openai.Config{BaseURL: "http://localhost:11434/v1", Model: "qwen3"})
//
// # Two protocols
//
// [ChatCompletions] is the default, whatever the endpoint: every server knows it, and it keeps nothing of a conversation
// at the service. [Responses] is to be asked for. There the service keeps the conversation unless the option store is
// false, so the client says so as [host.HistoryKeeper], and returns the id under which the next call goes on: that of the
// response, or of the conversation where the call went to one ("conv_…").
//
// # What is sent
//
// Instructions go before the messages as a system message, with Responses in a field of their own. The name of an author
// goes along with chat completions, if it is of letters, digits, - and _; Responses has none. Images may be https:,
// http: or data: URIs, other files data: URIs of a media type, with Responses also https: ones; audio is WAV or MP3 in a
// data: URI, and for chat completions alone. They may stand in user messages only. What cannot be carried is an error that
// names it, before anything is sent. One kind of content is left out on purpose: reasoning, which neither protocol takes
// back as text. An error in a message, such as a refusal, goes back as the text it is.
//
// [host.Options.Extra] goes into the request as it is. A name that the client writes by itself, or that would change the
// form of the answer, is refused.
//
// # What comes back
//
// Replies are read strictly: JSON of another shape, invalid UTF-8, a stream that ends before it said so are
// [host.ErrBadReply], never half an answer for a whole one. Fields nobody asked for are passed over. A refusal is a [message.Error] with the
// code "refusal", and the finish reason [host.FinishContentFilter]. Arguments of a call that are no JSON are kept as a
// JSON string, so that the call fails its check and the model is told. A streamed answer adds up to the one that is not
// streamed: text as it comes, all calls in one update behind it, then usage and finish reason.
//
// Every error of a call is a [host.ModelError], but for that of a cancelled context. Its text names the host, the status
// and what the service said; the key is taken out of it, also where the service echoes it. Nothing is tried again: that is
// for a middleware to decide.
//
// # Vectors
//
// [Client.Embed] calls the endpoint /embeddings with [Config.EmbeddingModel]. The answer is held against the request: as
// many vectors as texts, each in its place by the index that the service writes, all of one length, all numbers finite.
//
// The package reads no environment variables, those of the SDK and of proxies among them.
package openai
