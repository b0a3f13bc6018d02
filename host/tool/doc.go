// Package tool makes tools that an agent can call: of Go functions, of hand-made schemas, and of other agents.
//
//	weather := tool.Must(tool.New(tool.Config{Name: "weather", Description: "Tells the weather of a city."},
//		func(ctx context.Context, in struct {
//			City string `json:"city" jsonschema:"the city's name"`
//			Days int    `json:"days,omitzero" jsonschema:"how many days ahead; 0 is today"`
//		}) (string, error) {
//			return forecast(ctx, in.City, in.Days)
//		}))
//	agent, err := host.NewAgent(host.AgentConfig{Client: client, Tools: []host.Tool{weather}})
//
// The arguments are a struct: its fields become the schema, as [schema.For] makes it, and what a field is for stands in
// its jsonschema tag. Comments of Go source are not there when a program runs, so tags are the way to describe arguments.
// A function without arguments, or without a result, says so with [None].
//
// An error of the function becomes the call's result; the model sees its text only where the agent's
// IncludeDetailedErrors says so. An error marked with [host.Fatal] ends the run. A panic is caught by the agent.
//
// Package mcp, below this one, takes tools from MCP servers.
package tool
