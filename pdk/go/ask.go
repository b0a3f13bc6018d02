package pdk

import "github.com/weft-run/weft/pdk/go/json"

// question is where calls of the host's functions put their input together.
var question json.Writer

// ask calls a function of the host: write writes the members of its input, and read gets those of what it returns. The
// error is what the host says that failed, an [*Error].
func ask(function func(input []byte) string, write func(w *json.Writer), read func(name string, r *json.Reader)) error {
	question.Reset()
	question.Object(func() { write(&question) })
	var failure *Error
	r := json.NewReader(function(question.Bytes()))
	for name := range r.Object() {
		if name == "error" {
			failure = &Error{}
			failure.ReadJSON(r)
		} else if read != nil {
			read(name, r)
		}
	}
	ended("answer", r)
	if failure != nil {
		return failure
	}
	return nil
}
