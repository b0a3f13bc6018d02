package pdk

import (
	"strings"

	"github.com/weft-run/weft/pdk/go/json"
)

// OnUpdate is the body of the export on_update of middleware, which the host calls for each piece of a streamed answer, in
// their order, and once more at the end. A plugin that does not export it slows no stream.
func OnUpdate(hook func(u *UpdateIn, out *UpdateOut) error) int32 {
	out := &UpdateOut{}
	return call(func(in *In) error {
		u := &UpdateIn{
			Base: in.Base, Layer: in.layer(), Name: in.rest.text("name"), Data: in.rest.get("data"),
			Carry: in.rest.get("carry"), End: in.rest.flag("end"),
		}
		if update := readPart[Update]("update", in.rest.get("update")); update != nil {
			u.Update = *update
		}
		return hook(u, out)
	}, out)
}

// UpdateIn is what on_update is told.
type UpdateIn struct {
	Base
	// Layer is [LayerAgent] or [LayerChat].
	Layer Layer
	// Name and Data are what [ContextOut.ExtendMiddleware] said; empty where the middleware stands in the configuration.
	Name string
	Data json.Raw
	// Update is the piece; empty at the end, and where the plugin may not read it. Right: read "response".
	Update Update
	// Carry is what the call before set as such; empty at first.
	Carry json.Raw
	// End says that the last piece was there: what is held back leaves now or never.
	End bool
}

// ReadCarry reads what the call before left into v. At first it leaves v as it is.
func (u *UpdateIn) ReadCarry(v json.Readable) error { return readOwn("carry", u.Carry, v) }

// Update is one piece of a streamed answer.
type Update struct {
	Role         Role
	Contents     []Content
	MessageID    string
	FinishReason string
}

// TextUpdate returns a piece of an assistant's text.
func TextUpdate(text string) Update {
	return Update{Role: RoleAssistant, Contents: []Content{Text{Text: text}}}
}

// Text returns the texts of the piece, joined with nothing between them. Other contents are passed over.
func (u *Update) Text() string {
	var b strings.Builder
	for _, c := range u.Contents {
		if text, ok := c.(Text); ok {
			b.WriteString(text.Text)
		}
	}
	return b.String()
}

// UpdateOut is what on_update may return. Where nothing is set, the piece passes as it is.
type UpdateOut struct {
	updates []Update
	set     bool
	carry   json.Raw
}

// SetUpdates has other pieces leave in the place of this one. Right: change "result".
func (out *UpdateOut) SetUpdates(updates ...Update) { out.updates, out.set = updates, true }

// Drop has nothing leave in the place of this piece. Right: change "result".
func (out *UpdateOut) Drop() { out.SetUpdates() }

// SetCarry sets what the next call for this stream finds as [UpdateIn.Carry], any JSON.
func (out *UpdateOut) SetCarry(carry json.Raw) { out.carry = carry }

// WriteCarry sets what v writes for the next call of this stream.
func (out *UpdateOut) WriteCarry(v json.Writable) { out.carry = json.Marshal(v) }

var _ effects = (*UpdateOut)(nil)

func (out *UpdateOut) write(w *json.Writer) {
	if out.set {
		w.Name("updates")
		writeAll(w, out.updates)
	}
	writePart(w, "carry", out.carry)
}

// writeState writes nothing: middleware has no state.
func (out *UpdateOut) writeState(*json.Writer) {}

// ReadJSON reads a piece.
func (u *Update) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "role":
			u.Role = Role(r.String())
		case "contents":
			u.Contents = readContents(r)
		case "text":
			u.Contents = []Content{Text{Text: r.String()}}
		case "message_id":
			u.MessageID = r.String()
		case "finish_reason":
			u.FinishReason = r.String()
		}
	}
}

// WriteJSON writes a piece.
func (u *Update) WriteJSON(w *json.Writer) {
	w.Object(func() {
		writeOptional(w, "role", string(u.Role))
		if len(u.Contents) > 0 {
			w.Name("contents")
			writeContents(w, u.Contents)
		}
		writeOptional(w, "message_id", u.MessageID)
		writeOptional(w, "finish_reason", u.FinishReason)
	})
}
