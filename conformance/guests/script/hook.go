package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

// hook is one call of a provider's hook: what was handed in, as it stands after the operations so far, and what goes out.
type hook struct {
	in      *pdk.In
	state   *pdk.StateOut
	run     *pdk.RunOut         // nil in session_created
	context *pdk.ContextOut     // nil but in before_run and process
	wraps   *pdk.SessionContext // nil but in process

	bucket, metadata, options object
	// added are the messages that this call added, and that are not put into the run yet.
	added []pdk.Message
}

var _ scope = (*hook)(nil)

// run carries out the operations of the hook that is called.
func run(h *hook) error {
	s := script{hook: h.in.Hook}
	if err := h.in.ReadConfig(&s); err != nil {
		return err
	}
	if err := read(h.in.Options, &h.options); err != nil {
		return err
	}
	if err := h.look(); err != nil {
		return err
	}
	return carryOut(s.ops, h)
}

// look takes state and metadata as they stand.
func (h *hook) look() error {
	h.bucket, h.metadata, h.added = object{}, object{}, nil
	if err := read(h.in.State, &h.bucket); err != nil {
		return err
	}
	return read(h.in.Metadata, &h.metadata)
}

func read(raw json.Raw, into *object) error {
	if raw == "" {
		return nil
	}
	return json.Unmarshal(raw, into)
}

// holds compares keys of the provider's own state.
func (h *hook) holds(o *op) bool { return h.bucket.has(o.when) }

func (h *hook) do(o *op) error {
	switch o.name {
	case "log":
		log(o.text)
	case "log_state":
		log(o.key + "=" + string(tidy(h.bucket.get(o.key))))
	case "log_metadata":
		log(o.key + "=" + string(tidy(h.metadata.get(o.key))))
	case "log_sources":
		log(strings.Join(h.sources(), ","))
	case "log_seen":
		return h.logSeen()
	case "log_response":
		log(h.response())
	case "extend_messages":
		h.context.ExtendMessages(o.messages...)
		h.added = append(h.added, o.messages...)
	case "extend_instructions":
		h.context.ExtendInstructions(o.instructions...)
	case "extend_tools":
		h.context.ExtendTools(o.tools...)
	case "extend_middleware":
		h.context.ExtendMiddleware(o.middleware...)
	case "state_set":
		h.set(o.key, o.value)
	case "state_incr":
		return h.increment(o.key)
	case "metadata_set":
		h.metadata.set(o.key, o.value)
		h.run.SetMetadata(o.key, o.value)
	case "set_option":
		h.options.set(o.key, o.value) // what came in is a copy, so this reaches nobody
	case "set_result":
		h.wraps.SetText(o.text)
	case "call_next":
		return h.next(o)
	case "fail":
		return pdk.NewError(pdk.CodeFailed, o.failure)
	default:
		return pdk.NewError(pdk.CodeInvalidInput, "op "+strconv.Quote(o.name)+" is not one of a provider's")
	}
	return nil
}

// next runs the rest, and looks at what became of it. What was added goes down with it.
func (h *hook) next(o *op) error {
	if err := h.wraps.Next(); err != nil && !o.catch {
		return err
	}
	return h.look()
}

// sources are those that have messages in the context, with this provider among them where it added some.
func (h *hook) sources() []string {
	var ids []string
	for _, s := range h.in.Context() {
		ids = append(ids, s.SourceID)
	}
	if len(h.added) > 0 && !slices.Contains(ids, h.in.SourceID) {
		ids = append(ids, h.in.SourceID)
	}
	return ids
}

// logSeen fetches all context messages. Those that this call added stand behind the provider's earlier ones, or last.
func (h *hook) logSeen() error {
	var ranges []pdk.Range
	sources := h.in.Context()
	for _, s := range sources {
		ranges = append(ranges, pdk.Range{SourceID: s.SourceID})
	}
	pages, err := pdk.GetMessages(ranges...)
	if err != nil {
		return err
	}
	var seen []pdk.Message
	added := h.added
	for i, page := range pages {
		seen = append(seen, page.Messages...)
		if sources[i].SourceID == h.in.SourceID {
			seen, added = append(seen, added...), nil
		}
	}
	var texts []string
	for _, m := range append(seen, added...) {
		texts = append(texts, m.Text())
	}
	log(strings.Join(texts, ","))
	return nil
}

func (h *hook) response() string {
	r := h.in.Response()
	if h.wraps != nil {
		r = h.wraps.Response()
	}
	return textOf(r)
}

func textOf(r *pdk.Response) string {
	if r == nil {
		return "-"
	}
	return r.Text()
}

// set writes a key of the state. What is written before a failure is kept, so it goes out at once.
func (h *hook) set(key string, value json.Raw) {
	h.bucket.set(key, value)
	h.state.WriteState(&h.bucket)
}

func (h *hook) increment(key string) error {
	n := 0
	if value := h.bucket.get(key); value != "" && value != "null" {
		r := json.NewReader(value)
		n = r.Int()
		if err := r.End(); err != nil {
			return pdk.NewError(pdk.CodeFailed, "state "+strconv.Quote(key)+": "+err.Error())
		}
	}
	h.set(key, json.Int(n+1))
	return nil
}

// log appends a line to the scenario's log. It goes through the host's log as a JSON string, so that any text arrives as
// it is: an empty one, and one with line breaks or characters that do not print.
func log(line string) { pdk.LogInfo(quote(line)) }
