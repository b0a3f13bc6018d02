package pdk

import (
	"github.com/weft-run/weft/pdk/go/internal/extism"
	"github.com/weft-run/weft/pdk/go/json"
)

// Emit tells the caller of the run something, at once: data is any JSON, empty for none. Right: events "emit". The error is
// an [*Error].
func Emit(name string, data json.Raw) error {
	return ask(extism.Emit, func(w *json.Writer) { writeEvent(w, name, data) }, nil)
}

// Request asks the caller of the run something and waits for the answer, at most so many milliseconds; 0 means the 5
// minutes that the host waits by itself. Nobody answered where answered is false, which is to be taken as a no. The time is
// not the plugin's. Right: events "request". The error is an [*Error].
func Request(name string, data json.Raw, milliseconds int) (answer json.Raw, answered bool, err error) {
	err = ask(extism.Request, func(w *json.Writer) {
		writeEvent(w, name, data)
		if milliseconds > 0 {
			w.Name("wait_ms").Int(milliseconds)
		}
	}, func(name string, r *json.Reader) {
		switch name {
		case "answer":
			answer = r.Raw()
		case "answered":
			answered = r.Bool()
		}
	})
	return answer, answered, err
}

func writeEvent(w *json.Writer, name string, data json.Raw) {
	w.Name("name").String(name)
	writePart(w, "data", data)
}
