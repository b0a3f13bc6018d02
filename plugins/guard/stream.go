package main

import (
	"strconv"
	"unicode/utf8"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

// held is what is kept from one piece of a streamed answer to the next: the end of the text so far, in which a match could
// have begun.
type held struct {
	Text    string
	Blocked bool
}

// ReadJSON reads what was kept.
func (h *held) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "text":
			h.Text = r.String()
		case "blocked":
			h.Blocked = r.Bool()
		}
	}
}

// WriteJSON writes what is to be kept.
func (h *held) WriteJSON(w *json.Writer) {
	w.Object(func() {
		w.Name("text").String(h.Text)
		w.Name("blocked").Bool(h.Blocked)
	})
}

// update lets a streamed answer out so far as no rule can match it any more.
func (conf *config) update(u *pdk.UpdateIn, out *pdk.UpdateOut) error {
	var h held
	if err := u.ReadCarry(&h); err != nil {
		return err
	}
	if h.Blocked {
		out.Drop()
		return nil
	}
	h.Text += u.Update.Text()
	v := conf.judge(h.Text, onResponse)
	if v.blocked != nil {
		pdk.LogInfo("rule " + strconv.Quote(v.blocked.Name) + " blocked a response")
		out.SetUpdates(pdk.TextUpdate(v.blocked.Message))
		out.WriteCarry(&held{Blocked: true})
		return nil
	}
	cut := len(h.Text)
	if !u.End {
		cut = conf.safe(h.Text)
	}
	shown := conf.judge(h.Text[:cut], onResponse).text
	h.Text = h.Text[cut:]
	out.WriteCarry(&h)
	var others []pdk.Content
	for _, c := range u.Update.Contents {
		if _, isText := c.(pdk.Text); !isText {
			others = append(others, c)
		}
	}
	// A piece that is no text alone ends one: what is held leaves before it.
	if len(others) > 0 && h.Text != "" {
		shown += conf.judge(h.Text, onResponse).text
		out.WriteCarry(&held{})
	}
	switch {
	case u.End && shown == "":
	case shown == "" && len(others) == 0 && u.Update.FinishReason == "":
		out.Drop()
	default:
		piece := u.Update
		piece.Contents = others
		if shown != "" {
			piece.Contents = append([]pdk.Content{pdk.Text{Text: shown}}, others...)
		}
		if u.End {
			piece.Role = pdk.RoleAssistant
		}
		out.SetUpdates(piece)
	}
	return nil
}

// safe is up to where a text may leave: all but a window at the end, and no match is cut in two.
func (conf *config) safe(text string) int {
	cut := len(text) - conf.Window
	if cut <= 0 {
		return 0
	}
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	for i := range conf.Rules {
		if !conf.Rules[i].Response {
			continue
		}
		for _, at := range conf.Rules[i].matches(text) {
			if at[0] < cut && cut < at[1] {
				cut = at[0]
			}
		}
	}
	return cut
}
