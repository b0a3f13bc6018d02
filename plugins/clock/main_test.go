package main

import (
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pdk/go/pdktest"
)

func TestCases(t *testing.T) {
	pdktest.Cases{
		Hooks: pdktest.Hooks{"describe": describe, "init": initialise, "before_run": beforeRun},
		Begin: func(t *testing.T, clock time.Time) {
			loaded = nil
			now = func() time.Time { return clock }
		},
	}.Test(t)
	now = time.Now
}

func TestTheRealClock(t *testing.T) {
	loaded = nil
	out := pdktest.Call(t, beforeRun, `{"hook": "before_run"}`)
	if year := time.Now().UTC().Format("2006"); !strings.Contains(out, year) && !strings.Contains(out, "(UTC)") {
		t.Errorf("the year %s and the zone UTC were wanted in %s", year, out)
	}
}
