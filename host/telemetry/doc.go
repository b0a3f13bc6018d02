// Package telemetry tells OpenTelemetry what agents do: spans and metrics by the semantic conventions for generative AI.
//
//	tracer, err := telemetry.New(telemetry.Config{
//		TracerProvider: tracerProvider, MeterProvider: meterProvider, Provider: "openai", ServerAddress: "api.openai.com",
//	})
//	if err != nil {
//		return err
//	}
//	agent, err := host.NewAgent(host.AgentConfig{Name: "guide", Client: client, Tracer: tracer})
//
// The package knows the API of OpenTelemetry and not its SDK: who imports it decides what exports.
//
// # Conventions
//
// Names are those of the semantic conventions 1.41.0, the last numbered version that has the part on generative AI. That
// part is not declared stable, so another version may bring other names; a change of the version is told in the list of
// changes.
//
// # Spans
//
//	invoke_agent {agent}          a run
//	chat {model}                  a model call, of kind client
//	execute_tool {tool}           a tool call
//	before_run {source}           a provider's hook; after_run, run_failed, session_created and process likewise
//	process {layer} {type}        middleware of the layer agent, chat or function
//
// A span's parent is the part of the run that it was called from: hooks, model calls and tool calls stand under the run,
// or under the middleware and wrapping providers around them. What the conventions have no word for is called weft.*:
// weft.run.id, weft.source.id, weft.source.type, weft.hook, weft.layer, weft.added.messages, weft.added.instructions,
// weft.added.tools, weft.skipped, weft.terminated, weft.content.cut, and for each cost that a part reported
// weft.cost.{name}.used and weft.cost.{name}.limit, in nanoseconds, bytes or a plain number.
//
// A span that failed has the status error and error.type, which is one of: stopped (the consumer left the stream),
// canceled, timeout, rate_limited, unavailable, authentication, context_length, content_filter, bad_reply, not_found,
// invalid_request, approval, duplicate_tool, tool_name, no_result, panic, an HTTP status, what an error's own method
// ErrorType() string says, model (any other error of the client), hook (any other error of a provider), and _OTHER.
//
// # Metrics
//
//	gen_ai.client.token.usage                     tokens of a model call, by gen_ai.token.type
//	gen_ai.client.operation.duration              seconds of a model call
//	gen_ai.client.operation.time_to_first_chunk   seconds to the first piece of a streamed one
//	weft.run.duration                             seconds of a run
//	weft.hook.duration                            seconds of a hook, of middleware, and of a tool call (weft.hook is function)
//
// Their attributes come from the configuration and from closed lists, never from what was said. A tool's name is no
// attribute of a metric, because it is the model that writes it.
//
// # Content
//
// What was said stays out of telemetry: messages, instructions, arguments and results, and the texts of errors, which
// often quote them. With [Config.Content] they are recorded, as gen_ai.input.messages, gen_ai.output.messages,
// gen_ai.system_instructions, gen_ai.tool.call.arguments and gen_ai.tool.call.result, each valid JSON of at most
// [Config.ContentLimit] bytes, and as the description of a failed span's status. Where something was left out, the span
// has weft.content.cut; of messages the newest stay.
package telemetry
