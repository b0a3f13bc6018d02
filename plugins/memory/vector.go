package main

import (
	"encoding/base64"
	"math"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

// vector is the direction of an embedding, one byte for each dimension: a tenth of what JSON would take for its numbers, and
// all that a cosine needs. It is stored as base64.
type vector []int8

// direction scales an embedding so that its largest number is 127.
func direction(embedding []float32) vector {
	most := 0.0
	for _, f := range embedding {
		most = max(most, math.Abs(float64(f)))
	}
	out := make(vector, len(embedding))
	if most == 0 {
		return out
	}
	for i, f := range embedding {
		out[i] = int8(math.Round(float64(f) / most * math.MaxInt8))
	}
	return out
}

// cosine is that of the angle between two vectors; 0 where they are not of one length, as those of two models.
func cosine(a, b vector) float64 {
	if len(a) != len(b) {
		return 0
	}
	aa, bb, ab := product(a, a), product(b, b), product(a, b)
	if aa == 0 || bb == 0 {
		return 0
	}
	return float64(ab) / math.Sqrt(float64(aa)*float64(bb))
}

// product multiplies two vectors. It is a function of its own as loops are dear in WebAssembly where much else is
// kept.
//
//go:noinline
func product(a, b vector) int64 {
	sum := int64(0)
	b = b[:len(a)]
	for i := range a {
		sum += int64(a[i]) * int64(b[i])
	}
	return sum
}

// nearDuplicate is from which cosine on two facts say the same.
const nearDuplicate = 0.95

// distinct gives facts their vectors and leaves out those that say what another one does. Where the plugin may not embed
// all are left as they are.
func (c *config) distinct(known, fresh []fact) ([]fact, error) {
	if !embeds || len(fresh) == 0 {
		return fresh, nil
	}
	texts := make([]string, len(fresh))
	for i := range fresh {
		texts[i] = fresh[i].Text
	}
	embeddings, err := pdk.Embed(texts...)
	if err != nil && c.Find == findSearch {
		pdk.LogWarn("facts are not compared by what they mean: " + err.Error())
		return fresh, nil
	}
	if err != nil {
		return nil, err // without a vector they would never be found
	}
	var out []fact
	for i, f := range fresh {
		f.Vector = direction(embeddings[i])
		if !f.near(known) && !f.near(out) {
			out = append(out, f)
		}
	}
	return out, nil
}

func (f *fact) near(others []fact) bool {
	for i := range others {
		if cosine(f.Vector, others[i].Vector) > nearDuplicate {
			return true
		}
	}
	return false
}

// ReadJSON reads a vector.
func (v *vector) ReadJSON(r *json.Reader) {
	bytes, err := base64.StdEncoding.DecodeString(r.String())
	if err != nil {
		r.Fail("base64 was wanted")
		return
	}
	*v = make(vector, len(bytes))
	for i, b := range bytes {
		(*v)[i] = int8(b)
	}
}

// WriteJSON writes a vector.
func (v vector) WriteJSON(w *json.Writer) {
	bytes := make([]byte, len(v))
	for i, n := range v {
		bytes[i] = byte(n)
	}
	w.String(base64.StdEncoding.EncodeToString(bytes))
}
