package pdk

import (
	"strconv"

	"github.com/weft-run/weft/pdk/go/json"
)

// Layer is where process stands.
type Layer string

// The layers.
const (
	LayerContext  Layer = "context"  // among the providers: around later ones, the loop and the model
	LayerAgent    Layer = "agent"    // around each run
	LayerChat     Layer = "chat"     // around each model call
	LayerFunction Layer = "function" // around each tool call
)

// Layers are the bodies of process for the layers at which a plugin can stand; nil for one at which it cannot.
type Layers struct {
	Context  func(c *SessionContext) error
	Agent    func(c *AgentContext) error
	Chat     func(c *ChatContext) error
	Function func(c *FunctionContext) error
}

// Process is the body of the export process of a plugin that may stand at several layers, by its configuration or by
// [ContextOut.ExtendMiddleware]. One that stands at a single layer is smaller with [ProcessContext], [ProcessAgent],
// [ProcessChat] or [ProcessFunction].
func Process(layers Layers) int32 {
	out := &layerOut{}
	return call(func(in *In) error {
		layer := in.layer()
		switch {
		case layer == LayerContext && layers.Context != nil:
			return at(in, out, layers.Context)
		case layer == LayerAgent && layers.Agent != nil:
			return at(in, out, layers.Agent)
		case layer == LayerChat && layers.Chat != nil:
			return at(in, out, layers.Chat)
		case layer == LayerFunction && layers.Function != nil:
			return at(in, out, layers.Function)
		}
		return elsewhere(layer)
	}, out)
}

// ProcessContext is the body of the export process of a wrapping provider, which exports neither before_run nor after_run.
// The hook calls [SessionContext.Next], once as a rule, and finds the response afterwards; or it sets one itself.
func ProcessContext(hook func(c *SessionContext) error) int32 { return only(LayerContext, hook) }

// ProcessAgent is the body of the export process of middleware around each run. The hook calls [AgentContext.Next], once
// as a rule, and finds the response afterwards; or it sets one itself.
func ProcessAgent(hook func(c *AgentContext) error) int32 { return only(LayerAgent, hook) }

// ProcessChat is the body of the export process of middleware around each model call. The hook calls [ChatContext.Next],
// once as a rule, and finds the response afterwards; or it sets one itself.
func ProcessChat(hook func(c *ChatContext) error) int32 { return only(LayerChat, hook) }

// ProcessFunction is the body of the export process of middleware around each tool call. The hook calls
// [FunctionContext.Next], once as a rule, and finds the result afterwards; or it sets one itself. An error becomes the
// call's result.
func ProcessFunction(hook func(c *FunctionContext) error) int32 { return only(LayerFunction, hook) }

// context is a pointer to what the body of one layer gets.
type context[C any] interface {
	*C
	effects
	begin(in *In)
}

func only[C any, P context[C]](layer Layer, hook func(c P) error) int32 {
	out := &layerOut{}
	return call(func(in *In) error {
		if have := in.layer(); have != layer {
			return elsewhere(have)
		}
		return at(in, out, hook)
	}, out)
}

func at[C any, P context[C]](in *In, out *layerOut, hook func(c P) error) error {
	c := P(new(C))
	c.begin(in)
	out.of = c
	return hook(c)
}

func (in *In) layer() Layer { return Layer(in.rest.text("layer")) }

func elsewhere(layer Layer) error {
	return NewError(CodeInvalidInput, "this plugin does not process the layer "+strconv.Quote(string(layer)))
}

// layerOut is what process returns: the effects of the layer at which it turned out to stand.
type layerOut struct{ of effects }

func (out *layerOut) write(w *json.Writer) { out.of.write(w) }

func (out *layerOut) writeState(w *json.Writer) {
	if out.of != nil {
		out.of.writeState(w)
	}
}

// replyPart is the response at a layer: the one that Next came to, or the one that the hook set after that.
type replyPart struct {
	given json.Raw
	set   *Response
}

// Response returns the response as it stands: what the last Next came to, unless another one was set since. It is nil
// where there is none, and where the plugin may not read it. To change it takes SetResponse. Right: read "response".
func (p *replyPart) Response() *Response {
	if p.set != nil {
		return p.set
	}
	return readPart[Response]("response", p.given)
}

// Text returns the texts of the response, joined with nothing between them.
func (p *replyPart) Text() string { return p.Response().Text() }

// SetResponse puts a response, its messages and why it ends, in the place of the one that there is. Right: change
// "result".
func (p *replyPart) SetResponse(response *Response) { p.set = response }

// SetText is SetResponse with an assistant message of one text.
func (p *replyPart) SetText(text string) { p.set = textResponse(text) }

// next runs the rest of the chain and takes its response.
func (p *replyPart) next(write func(w *json.Writer), read func(name string, r *json.Reader)) error {
	given := p.given
	err := callNext(write, func(name string, r *json.Reader) {
		if name == "response" {
			given = r.Raw()
		} else if read != nil {
			read(name, r)
		}
	})
	if err == nil {
		p.given, p.set = given, nil
	}
	return err
}

// endPart says whether the chain ends.
type endPart struct{ terminate bool }

// Terminate ends the layer at once: middleware further out does not go on, and the result is the one that stands, or an
// empty one. It returns nil, so that a hook can end with it: return c.Terminate().
func (e *endPart) Terminate() error {
	e.terminate = true
	return nil
}

func (e *endPart) write(w *json.Writer) {
	if e.terminate {
		w.Name("terminate").Bool(true)
	}
}

// writeState writes nothing: middleware has no state.
func (e *endPart) writeState(*json.Writer) {}
