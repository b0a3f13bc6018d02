package main

import (
	"testing"

	"github.com/weft-run/weft/pdk/go/pdktest"
)

func TestCases(t *testing.T) {
	pdktest.Cases{
		Hooks: pdktest.Hooks{"describe": describe, "init": initialise, "before_run": beforeRun, "after_run": afterRun},
	}.Test(t)
}
