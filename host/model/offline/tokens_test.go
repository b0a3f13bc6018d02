package offline

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWords(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"What does it receive?", "what doe it receiv"},
		{"received receiving receives", "receiv receiv receiv"},
		{"queries copied stopped running classes", "query copy stop run class"},
		{"status is class bus", "status is class bus"},
		{"`before_run`, then", "before_run!(befor run) then"},
		{"host/wasm", "host/wasm!(host wasm)"},
		{"IN-2 in-2", "in_2!(in 2) in_2!(in 2)"},
		{"call_next(callNext)", "call_next!(call next) callnext!(call next)"},
		{"weft.yaml.", "weft.yaml!(weft yaml)"},
		{"read/before_run", "read/before_run!(before_run read befor run)"},
		{"least-privilege", "least_privilege(least privileg)"},
		{"e.g. 10:42 on 2026-11-21", "e.g(e g) 10:42(10 42) on 2026_11_21(2026 11 21)"},
		{"Ada's don’t users'", "ada dont user"},
		{"--trace a::b", "trac a b"},
		{"straße Größe ÜBER", "straße größe über"},
		{"状态 is 是", "状 态 is 是"},
		{" \t…—“”!", ""},
		{"\xff\xfea\xff", "a"},
	} {
		var got []string
		for _, w := range words(test.text) {
			one := w.term
			if w.identifier {
				one += "!"
			}
			if len(w.parts) > 0 {
				one += "(" + strings.Join(w.parts, " ") + ")"
			}
			got = append(got, one)
		}
		assert.Equal(t, test.want, strings.Join(got, " "), "%q", test.text)
	}
}

func TestCountTokens(t *testing.T) {
	for _, test := range []struct {
		text string
		want int
	}{
		{"", 0},
		{" \n ", 0},
		{"a", 1},
		{"four", 1},
		{"fives", 2},
		{"a bc  def\n", 3},
		{"größe", 2},
		{"12345678 12345678 9", 5},
	} {
		assert.Equal(t, test.want, CountTokens(test.text), "%q", test.text)
	}
}
