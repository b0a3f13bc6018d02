package json_test

import (
	"fmt"

	"github.com/weft-run/weft/pdk/go/json"
)

// notes is a plugin's state.
type notes struct {
	Version int
	Lines   []string
}

func (s *notes) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "version":
			s.Version = r.Int()
		case "lines":
			s.Lines = r.Strings()
		}
	}
}

func (s *notes) WriteJSON(w *json.Writer) {
	w.Object(func() {
		w.Name("version").Int(s.Version)
		w.Name("lines").Strings(s.Lines)
	})
}

func Example() {
	var s notes
	if err := json.Unmarshal(`{"version": 1, "lines": ["one"], "later": [1, 2]}`, &s); err != nil {
		fmt.Println(err)
		return
	}
	s.Lines = append(s.Lines, "two")
	fmt.Println(json.Marshal(&s))
	// Output: {"version":1,"lines":["one","two"]}
}

func ExampleUnmarshal_fault() {
	err := json.Unmarshal(`{"version": 1, "lines": ["one", 2]}`, &notes{})
	fmt.Println(err)
	// Output: at /lines/1: a string was wanted, and a number is there
}

func ExampleReader_Fail() {
	r := json.NewReader(`{"level": 7}`)
	for range r.Object() {
		if level := r.Int(); level > 5 {
			r.Fail("a level from 1 to 5 was wanted")
		}
	}
	fmt.Println(r.End())
	// Output: at /level: a level from 1 to 5 was wanted
}

func ExampleWriter() {
	var w json.Writer
	w.Object(func() {
		w.Name("count").Int(2)
		w.Name("tags").Array(func() {
			w.String("a")
			w.Bool(true)
		})
	})
	fmt.Println(w.JSON())
	// Output: {"count":2,"tags":["a",true]}
}
