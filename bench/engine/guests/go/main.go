// Command go is the guest that all languages have, written with the project's own PDK: before_run counts the words of a
// run's input, noop does nothing, and echo gives back what it gets.
package main

import (
	"strconv"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

//go:wasmexport before_run
func beforeRun() int32 {
	return pdk.BeforeRun(func(in *pdk.In, out *pdk.ContextOut) error {
		var c config
		var s state
		if err := in.ReadConfig(&c); err != nil {
			return err
		}
		if err := in.ReadState(&s); err != nil {
			return err
		}
		words := 0
		for _, m := range in.Input() {
			for _, content := range m.Contents {
				if text, ok := content.(pdk.Text); ok {
					words += countWords(text.Text)
				}
			}
		}
		s.runs++
		s.words += words
		out.ExtendMessages(pdk.User("This message has " + strconv.Itoa(words) + " words, and the conversation has " +
			strconv.Itoa(s.words) + " so far."))
		out.ExtendInstructions("Answer what was asked, one thing after the other, in the language of the question.")
		if words > c.long {
			out.ExtendInstructions("Keep the answer shorter than the question.")
		}
		out.WriteState(&s)
		out.SetMetadata("language", json.String(c.language))
		out.SetMetadata("session_id", json.String(in.Run.SessionID))
		out.SetMetadata("trace_id", in.MetadataValue("trace_id"))
		out.SetMetadata("words", json.Int(words))
		return nil
	})
}

// countWords counts what stands between white space. It asks a table, for a branch costs more than a load where Go is
// compiled to WebAssembly, and is a function of its own, for the loop of a large one keeps its variables in memory.
//
//go:noinline
func countWords(text string) int {
	words := 0
	before := byte(1)
	for i := range len(text) {
		space := spaces[text[i]]
		words += int(before &^ space)
		before = space
	}
	return words
}

// spaces has a 1 for each character that is white space.
var spaces = [256]byte{' ': 1, '\t': 1, '\n': 1, '\v': 1, '\f': 1, '\r': 1}

type config struct {
	language string
	long     int
}

// ReadJSON reads the config.
func (c *config) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "language":
			c.language = r.String()
		case "long":
			c.long = r.Int()
		}
	}
}

type state struct{ runs, words int }

// ReadJSON reads the state.
func (s *state) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "runs":
			s.runs = r.Int()
		case "words":
			s.words = r.Int()
		}
	}
}

// WriteJSON writes the state.
func (s *state) WriteJSON(w *json.Writer) {
	w.Object(func() {
		w.Name("runs").Int(s.runs)
		w.Name("words").Int(s.words)
	})
}

//go:wasmexport noop
func noop() int32 { return 0 }

//go:wasmexport recurse
func recurse() int32 { return deeper(0) }

// deeper never comes back. What it does with the result keeps the compiler from making a loop of it.
//
//go:noinline
func deeper(n int32) int32 { return deeper(n+1) + n }

func main() {}
