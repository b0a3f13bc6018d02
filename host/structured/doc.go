// Package structured gets values out of agents: the answer of a run as a Go value, or as JSON that fits a schema.
//
//	type Forecast struct {
//		City    string `json:"city"`
//		Degrees int    `json:"degrees" jsonschema:"in Celsius"`
//	}
//	forecast, response, err := structured.Run[Forecast](ctx, agent, host.Text("How warm is Oslo?"), host.RunConfig{}, structured.Config{})
//	if errors.Is(err, structured.ErrInvalid) {
//		return err // the model did not manage; the error says why
//	}
//
// The schema goes to the model as [host.Options.ResponseFormat]. Tools are called as in any run; the reply after them is
// the answer. It must be one JSON value that fits the schema, with white space or a ```json fence around it and nothing
// else. Where it is not, the model is told what is wrong and asked once more ([Config.Repairs]): in the model call itself,
// so that the history stores the good answer alone. The response's usage counts all calls.
//
// Services want an object. A type whose values are none, such as a list, travels as {"value": …}: in the response and the
// history it stands so, and what is returned is the value within.
//
// [Middleware] is the same for runs that the caller starts, streamed ones too, and [Decode] takes the value out of their
// response. A streamed answer is held back until it was checked, so nothing of a bad one is shown; a fence is taken off.
package structured
