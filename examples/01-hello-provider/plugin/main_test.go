package main

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/pdk/go/pdktest"
)

// The same code runs natively in a test.
func TestBeforeRun(t *testing.T) {
	out := pdktest.Call(t, beforeRun, `{"abi":1,"hook":"before_run"}`)
	if !strings.Contains(out, "opens at nine") {
		t.Errorf("before_run returned %s", out)
	}
}
