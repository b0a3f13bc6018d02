package pdk

import (
	"github.com/weft-run/weft/pdk/go/internal/extism"
	"github.com/weft-run/weft/pdk/go/json"
)

// SessionContext is a run as a wrapping provider sees it: what before_run is told, what it may add, and the response.
//
// What is added before [SessionContext.Next] is there for all that comes behind it, and for each further try; what is set
// after the last one is put on the run when the hook returns.
type SessionContext struct {
	In
	ContextOut
	replyPart
}

// Next runs the rest: later providers, the loop and the model. Afterwards [SessionContext.Response] is what it came to, and
// state, context and metadata are as they stand then. It may be called again; what later providers added in the try before
// is gone then, and what this one added stays. The error is an [*Error]: a hook that does not handle it returns it as it
// is.
func (c *SessionContext) Next() error {
	added := c.ContextOut
	c.ContextOut = ContextOut{}
	return c.next(added.write, func(name string, r *json.Reader) {
		switch name {
		case "state":
			c.State = r.Raw()
		case "context":
			c.context = r.Raw()
		case "metadata":
			c.Metadata = r.Raw()
		}
	})
}

// Response returns the response as it stands: what the last Next came to, unless another one was set since. It is nil
// where there is none, and where the plugin may not read it. To change it takes SetResponse. Right: read "response".
func (c *SessionContext) Response() *Response { return c.replyPart.Response() }

func (c *SessionContext) begin(in *In) { c.In = *in }

func (c *SessionContext) write(w *json.Writer) {
	c.ContextOut.write(w)
	writeResponse(w, c.set)
}

// callNext runs the rest of the chain.
func callNext(write func(w *json.Writer), read func(name string, r *json.Reader)) error {
	return ask(extism.CallNext, write, read)
}
