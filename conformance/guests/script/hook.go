package main

import (
	"strconv"
	"strings"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

// hook is one call of a hook: what was handed in, as it stands after the operations so far, and what goes out.
type hook struct {
	in      *pdk.In
	state   *pdk.StateOut
	run     *pdk.RunOut     // nil in session_created
	context *pdk.ContextOut // nil but in before_run

	bucket, metadata, options object
	sources                   []source
}

// source is what one provider added to the context so far, own additions of this call among it.
type source struct {
	id    string
	texts []string
}

// run carries out the operations of the hook that is called.
func run(in *pdk.In, h *hook) error {
	s := script{hook: in.Hook}
	if err := in.ReadConfig(&s); err != nil {
		return err
	}
	h.in = in
	if err := in.ReadState(&h.bucket); err != nil {
		return err
	}
	for _, part := range []struct {
		raw  json.Raw
		into *object
	}{{in.Metadata, &h.metadata}, {in.Options, &h.options}} {
		if part.raw == "" {
			continue
		}
		if err := json.Unmarshal(part.raw, part.into); err != nil {
			return err
		}
	}
	for _, c := range in.Context() {
		seen := source{id: c.SourceID}
		for _, m := range c.Messages() {
			seen.texts = append(seen.texts, m.Text())
		}
		h.sources = append(h.sources, seen)
	}
	for i := range s.ops {
		if !h.bucket.has(s.ops[i].when) {
			continue
		}
		if err := h.do(&s.ops[i]); err != nil {
			return err
		}
	}
	return nil
}

func (h *hook) do(o *op) error {
	switch o.name {
	case "log":
		log(o.text)
	case "log_state":
		log(o.key + "=" + string(tidy(h.bucket.get(o.key))))
	case "log_metadata":
		log(o.key + "=" + string(tidy(h.metadata.get(o.key))))
	case "log_sources":
		ids := make([]string, len(h.sources))
		for i, s := range h.sources {
			ids[i] = s.id
		}
		log(strings.Join(ids, ","))
	case "log_seen":
		var texts []string
		for _, s := range h.sources {
			texts = append(texts, s.texts...)
		}
		log(strings.Join(texts, ","))
	case "log_response":
		log(h.response())
	case "extend_messages":
		h.context.ExtendMessages(o.messages...)
		h.see(o.messages)
	case "extend_instructions":
		h.context.ExtendInstructions(o.instructions...)
	case "state_set":
		h.set(o.key, o.value)
	case "state_incr":
		return h.increment(o.key)
	case "metadata_set":
		h.metadata.set(o.key, o.value)
		h.run.SetMetadata(o.key, o.value)
	case "set_option":
		h.options.set(o.key, o.value) // what came in is a copy, so this reaches nobody
	case "fail":
		return pdk.NewError(pdk.CodeFailed, o.failure)
	default:
		return pdk.NewError(pdk.CodeInvalidInput, "op "+strconv.Quote(o.name)+" is not one of a plugin's")
	}
	return nil
}

// see puts messages where the next operation sees them: behind those of this provider, or last.
func (h *hook) see(messages []pdk.Message) {
	if len(messages) == 0 {
		return
	}
	at := len(h.sources)
	for i, s := range h.sources {
		if s.id == h.in.SourceID {
			at = i
		}
	}
	if at == len(h.sources) {
		h.sources = append(h.sources, source{id: h.in.SourceID})
	}
	for i := range messages {
		h.sources[at].texts = append(h.sources[at].texts, messages[i].Text())
	}
}

func (h *hook) response() string {
	r := h.in.Response()
	if r == nil {
		return "-"
	}
	text := ""
	for i := range r.Messages {
		text += r.Messages[i].Text()
	}
	return text
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
