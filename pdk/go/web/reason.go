package web

import "github.com/weft-run/weft/pdk/go/json"

// maxReason is how many bytes of what a service says of a failure stand in an error.
const maxReason = 300

// reason is what a service says of a failure, with its code, in one line; empty where it says nothing that can be told
// apart. Services say it in much the same way, and put it at various places of a JSON object: "message", "detail",
// "error", in objects and arrays of these. The longest text is the one that says most.
func reason(body string) string {
	var s said
	r := json.NewReader(body)
	s.read(r, 0)
	if r.End() != nil {
		return "" // a page for people
	}
	switch {
	case s.text == "":
		return Line(s.code, maxReason)
	case s.code == "":
		return Line(s.text, maxReason)
	}
	return Line(s.code+": "+s.text, maxReason)
}

// said is what was found in an answer.
type said struct{ code, text string }

func (s *said) read(r *json.Reader, depth int) {
	const deepest = 4
	kind := r.Kind()
	switch {
	case kind == json.KindString:
		if text := r.String(); len(text) > len(s.text) {
			s.text = text
		}
	case kind == json.KindArray && depth < deepest:
		for range r.Array() {
			s.read(r, depth+1)
		}
	case kind == json.KindObject && depth < deepest:
		for name := range r.Object() {
			switch name {
			case "code":
				if r.Kind() == json.KindString && s.code == "" {
					s.code = r.String()
				}
			case "message", "detail", "details", "error", "errors", "error_description", "title":
				s.read(r, depth+1)
			}
		}
	default:
		r.Raw()
	}
}
