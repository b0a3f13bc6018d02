package main

import (
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	for name, c := range map[string]struct {
		in     string
		failed bool
		want   []string
	}{
		"good": {
			`{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:1: scenarios native: 2 passed, 1 not supported\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:7: needs wat2wasm, which is not on PATH\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"pass","Package":"p"}`, false,
			[]string{
				"scenarios native: 2 passed, 1 not supported\n", "skipped:\n  p TestB: needs wat2wasm, which is not on PATH\n",
				"\n1 passed, 0 failed, 1 skipped\n",
			},
		},
		"a failing test": {
			`{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:1: boom\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p"}`, true, []string{"FAIL p TestA\n    a_test.go:1: boom\n", "0 passed, 1 failed, 0 skipped"},
		},
		"a package that does not build": {
			`{"ImportPath":"p","Action":"build-output","Output":"p/a.go:1:1: syntax error\n"}
{"ImportPath":"p","Action":"build-fail"}
{"Action":"fail","Package":"p"}`, true, []string{"syntax error", "1 failed"},
		},
		"a package that dies outside of a test": {
			`{"Action":"output","Package":"p","Output":"panic: boom\n"}
{"Action":"fail","Package":"p"}`, true, []string{"panic: boom"},
		},
		"something that is no event": {"go: no such module\n", true, []string{"go: no such module"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			failed, err := report(strings.NewReader(c.in), &out)
			if err != nil {
				t.Fatal(err)
			}
			if failed != c.failed {
				t.Errorf("failed is %v, want %v", failed, c.failed)
			}
			for _, part := range c.want {
				if !strings.Contains(out.String(), part) {
					t.Errorf("want %q in\n%s", part, out.String())
				}
			}
		})
	}
}
