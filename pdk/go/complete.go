package pdk

import (
	"github.com/weft-run/weft/pdk/go/internal/extism"
	"github.com/weft-run/weft/pdk/go/json"
)

// Completion is what a model is asked with [Complete].
type Completion struct {
	Messages     []Message
	Instructions string
	// Options is an object with any of temperature, top_p, max_tokens, seed, stop and response_format; empty for none.
	Options json.Raw
}

// Complete asks the host's model, without the agent's tools and middleware. Right: complete. Beyond what it gives for one
// run the error has [CodeLimit], and where the model fails [CodeModel]; it is always an [*Error].
func Complete(c Completion) (*Response, error) {
	var response Response
	err := ask(extism.Complete, func(w *json.Writer) {
		w.Name("messages")
		writeMessages(w, c.Messages)
		writeOptional(w, "instructions", c.Instructions)
		writePart(w, "options", c.Options)
	}, func(name string, r *json.Reader) {
		if name == "response" {
			response.ReadJSON(r)
		}
	})
	if err != nil {
		return nil, err
	}
	return &response, nil
}

// Embed asks the host's model for the vectors of texts, one for each. Right: embed. Beyond what it gives for one run the
// error has [CodeLimit]; it is always an [*Error].
func Embed(texts ...string) ([][]float32, error) {
	var vectors [][]float32
	err := ask(extism.Embed, func(w *json.Writer) { w.Name("texts").Strings(texts) }, func(name string, r *json.Reader) {
		if name != "vectors" {
			return
		}
		for range r.Array() {
			var vector []float32
			for range r.Array() {
				vector = append(vector, float32(r.Float()))
			}
			vectors = append(vectors, vector)
		}
	})
	if err == nil && len(vectors) != len(texts) {
		err = NewError(CodeInternal, "the host returned more or fewer vectors than it was given texts")
	}
	if err != nil {
		return nil, err
	}
	return vectors, nil
}
