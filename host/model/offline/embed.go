package offline

import (
	"context"
	"hash/fnv"
	"math"
	"unicode/utf8"

	"github.com/weft-run/weft/host"
)

// EmbeddingModel is the name of the vectors that [Client.Embed] makes. It changes whenever the vectors do.
const EmbeddingModel = "offline-embed-1"

// EmbeddingDimensions is how long they are.
const EmbeddingDimensions = 256

// What each feature of a text counts. Sums of whole numbers are the same on every machine, whatever their order.
const (
	weighTerm     = 8 // a word by its stem, or a name as a whole
	weighPart     = 4 // a piece of a compound such as before_run
	weighTrigram  = 2 // three letters of a word, its ends included: what misspelt words still share
	weighStopWord = 1
	// maxTimes is how often a feature counts that stands in the text again and again.
	maxTimes = 3
)

var _ host.Embedder = (*Client)(nil)

// Embed returns vectors that tell how many words two texts share: the words, by their stems, and the trigrams of letters in
// them, are hashed into 256 numbers, and the vector is scaled to length 1, so that the product of two vectors is the cosine
// between them. Texts of like words are near each other, in any order and also where a word is misspelt; texts that say the
// like in other words are not. The same text has the same vector on every machine. Nothing is sent anywhere. The model
// that the request names is passed over, and the only error is that of ctx.
func (c *Client) Embed(ctx context.Context, request *host.EmbedRequest) (*host.EmbedResponse, error) {
	out := &host.EmbedResponse{Model: EmbeddingModel, Usage: &host.Usage{}}
	if request == nil {
		return out, ctx.Err()
	}
	for _, text := range request.Texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out.Vectors = append(out.Vectors, embed(text))
		out.Usage.InputTokens += CountTokens(text)
	}
	return out, ctx.Err()
}

// embed is the vector of one text. A text without words is its own only feature, so that no vector is empty.
func embed(text string) []float32 {
	f := features{times: map[string]int{}}
	for _, w := range words(text) {
		if stopWords[w.lower] {
			f.add("w", w.term, weighStopWord)
			continue
		}
		f.add("w", w.term, weighTerm)
		for _, p := range w.parts {
			f.add("w", p, weighPart)
		}
		for trigram := range trigrams(w.lower) {
			f.add("t", trigram, weighTrigram)
		}
	}
	if v := f.vector(); v != nil {
		return v
	}
	f = features{times: map[string]int{}}
	f.add("x", text, weighTerm)
	return f.vector()
}

// trigrams are the runs of three characters of a word between its ends, which count as characters.
func trigrams(word string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		word = "^" + word + "$"
		for from := 0; from < len(word); {
			end, n := from, 0
			for n < 3 && end < len(word) {
				_, size := utf8.DecodeRuneInString(word[end:])
				end += size
				n++
			}
			if n < 3 || !yield(word[from:end]) {
				return
			}
			_, size := utf8.DecodeRuneInString(word[from:])
			from += size
		}
	}
}

// features are the sum of a text's features.
type features struct {
	sum   [EmbeddingDimensions]int64
	times map[string]int
}

// add counts one feature: its hash says where it stands, and with which sign, so that those that meet cancel out as often
// as they add up.
func (f *features) add(kind, feature string, weight int64) {
	name := kind + feature
	if f.times[name]++; f.times[name] > maxTimes {
		return
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	bits := h.Sum64()
	bits ^= bits >> 32
	if bits&EmbeddingDimensions != 0 {
		weight = -weight
	}
	f.sum[bits%EmbeddingDimensions] += weight
}

// vector is the sum, scaled to length 1; nil where it is 0.
func (f *features) vector() []float32 {
	var square int64
	for _, n := range f.sum {
		square += n * n
	}
	if square == 0 {
		return nil
	}
	length := math.Sqrt(float64(square))
	v := make([]float32, EmbeddingDimensions)
	for i, n := range f.sum {
		v[i] = float32(float64(n) / length)
	}
	return v
}
