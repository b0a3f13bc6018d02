package wasm

import (
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// view writes the object that a hook receives: only what the plugin may read, each part straight from where it is kept
// (clauses IN-1 to IN-11). State and config are bytes and stay as they are.
type view struct {
	b   []byte
	err error
}

// views served before: what a hook receives is written anew for each call, and nobody needs it after that.
var views = sync.Pool{New: func() any { return &view{b: make([]byte, 0, 1024)} }}

// viewKept is the size of a view that is worth keeping: few are larger, and those would stay.
const viewKept = 64 << 10

// release gives a view back that nobody uses any more, nor the bytes that it gave.
func (v *view) release() {
	if cap(v.b) <= viewKept {
		v.b, v.err = v.b[:0], nil
		views.Put(v)
	}
}

// newView begins the object with what every call of a run has.
func (p *version) newView(c *call) *view {
	v := views.Get().(*view)
	v.head(c.hook)
	v.text("source_id", p.sourceID)
	v.key("run")
	v.b = append(v.b, '{')
	v.text("run_id", c.runID)
	if c.agent != "" {
		v.text("agent", c.agent)
	}
	if c.session != nil && !c.session.ForOneRun() { // one that nobody can come back to is none
		v.text("session_id", c.session.ID())
		if id := c.session.ServiceSessionID(); id != "" {
			v.text("service_session_id", id)
		}
	}
	v.b = append(v.b, '}')
	v.raw("config", p.config)
	if c.layer != "" {
		v.text("layer", string(c.layer))
	}
	return v
}

func (v *view) head(hook abi.Hook) {
	v.b = append(v.b, '{')
	v.number("abi", abi.Version)
	v.text("hook", string(hook))
}

// provider adds what the hooks of a provider see of a run, each part where it may be read.
func (v *view) provider(g *abi.Grants, sc *host.SessionContext) {
	if g.CanRead("input") {
		v.messages("input", sc.Input())
	}
	v.context(g, sc)
	if g.CanRead("options") {
		v.options(sc.Options())
	}
	v.metadata(g, sc)
}

// context adds the count of each source's messages. What it writes grows with the sources and not with the messages.
func (v *view) context(g *abi.Grants, sc *host.SessionContext) {
	if !g.ReadsContext() {
		return
	}
	sources := sc.Sources()
	v.array("context", len(sources), func(i int) {
		v.b = append(v.b, '{')
		v.text("source_id", sources[i].SourceID)
		v.number("count", len(sources[i].Messages))
		v.b = append(v.b, '}')
	})
}

func (v *view) options(o host.Options) {
	options, err := o.JSON()
	v.fail(err)
	v.raw("options", options)
}

func (v *view) metadata(g *abi.Grants, sc *host.SessionContext) {
	if g.CanRead("metadata") {
		metadata, err := sc.MetadataJSON()
		v.fail(err)
		v.raw("metadata", metadata)
	}
}

// response adds the run's answer, where it may be read.
func (v *view) response(g *abi.Grants, r *host.Response) {
	if r == nil || !g.CanRead("response") {
		return
	}
	v.key("response")
	v.b = append(v.b, `{"messages":`...)
	v.list(r.Messages)
	if r.FinishReason != "" {
		v.text("finish_reason", string(r.FinishReason))
	}
	if r.ConversationID != "" {
		v.text("conversation_id", r.ConversationID)
	}
	if r.Usage != nil {
		v.usage(r.Usage)
	}
	v.b = append(v.b, '}')
}

// failure adds why the run failed.
func (v *view) failure(cause error) {
	e := envelope(cause)
	v.key("error")
	v.b = append(v.b, '{')
	v.text("code", string(e.Code))
	v.text("message", e.Message)
	v.b = append(v.b, '}')
}

func (v *view) usage(u *host.Usage) {
	v.key("usage")
	v.b = append(v.b, '{')
	v.number("input_tokens", u.InputTokens)
	v.number("output_tokens", u.OutputTokens)
	v.b = append(v.b, '}')
}

// boolean writes a member that is true; one that is not is left out.
func (v *view) boolean(name string, value bool) {
	if value {
		v.key(name)
		v.b = append(v.b, "true"...)
	}
}

func (v *view) number(name string, n int) {
	v.key(name)
	v.b = strconv.AppendInt(v.b, int64(n), 10)
}

// done closes the object.
func (v *view) done() ([]byte, error) {
	if len(v.b) == 0 {
		v.b = append(v.b, '{')
	}
	v.b = append(v.b, '}')
	return v.b, v.err
}

// object writes a member that is an object, whose members write puts in.
func (v *view) object(name string, write func()) {
	v.key(name)
	v.b = append(v.b, '{')
	write()
	v.b = append(v.b, '}')
}

// array writes a member that is an array of n elements, each of which write puts in.
func (v *view) array(name string, n int, write func(i int)) {
	v.key(name)
	v.b = append(v.b, '[')
	for i := range n {
		if i > 0 {
			v.b = append(v.b, ',')
		}
		write(i)
	}
	v.b = append(v.b, ']')
}

func (v *view) key(name string) {
	if n := len(v.b); n > 0 && v.b[n-1] != '{' {
		v.b = append(v.b, ',')
	}
	v.b = append(v.b, '"')
	v.b = append(v.b, name...)
	v.b = append(v.b, '"', ':')
}

func (v *view) text(name, value string) {
	v.key(name)
	v.quote(value)
}

func (v *view) quote(value string) {
	b, err := jsontext.AppendQuote(v.b, value)
	v.fail(err)
	v.b = b
}

func (v *view) raw(name string, value jsontext.Value) {
	v.key(name)
	v.b = append(v.b, value...)
}

func (v *view) messages(name string, messages []*message.Message) {
	v.key(name)
	v.list(messages)
}

func (v *view) list(messages []*message.Message) {
	b, err := message.AppendList(v.b, messages)
	v.fail(err)
	v.b = b
}

func (v *view) fail(err error) {
	if v.err == nil {
		v.err = err
	}
}
