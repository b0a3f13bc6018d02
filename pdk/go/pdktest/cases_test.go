package pdktest

import (
	"bytes"
	"testing"
	"time"

	"github.com/weft-run/weft/pdk/go"
)

func describe() int32 { return pdk.Describe(pdk.Description{Name: "x"}) }

func echo() int32 {
	return pdk.AfterRun(func(in *pdk.In, out *pdk.RunOut) error {
		out.SetState(in.State)
		return nil
	})
}

func TestCases(t *testing.T) {
	var clocks []time.Time
	Cases{
		Hooks: Hooks{"describe": describe, "after_run": echo},
		Begin: func(_ *testing.T, clock time.Time) { clocks = append(clocks, clock) },
	}.Test(t)
	if len(clocks) != 2 || !clocks[0].Equal(time.Date(2026, 11, 21, 10, 42, 0, 0, time.UTC)) || !clocks[1].IsZero() {
		t.Errorf("the clock of each file was wanted: %v", clocks)
	}
}

func TestArchive(t *testing.T) {
	const text = "About.\n\n-- a/in.json --\n{}\n-- a/out.json --\n\n-- no section\n--\n"
	a := parse([]byte(text))
	if len(a.sections) != 2 || string(a.comment) != "About.\n\n" || string(a.sections[1].data) != "\n-- no section\n--\n" {
		t.Errorf("%+v", a)
	}
	if have := a.format(); !bytes.Equal(have, []byte(text)) {
		t.Errorf("want %q\nhave %q", text, have)
	}
}

func TestWhatIsWrongWithACase(t *testing.T) {
	for text, want := range map[string]string{
		"-- before_run/out.json --\n{}\n":                                      `section "before_run/out.json" is there; HOOK/in.json was wanted`,
		"-- before_run/in.json --\n{}\n":                                       "section before_run/in.json must be followed by before_run/out.json",
		"-- a/in.json --\n-- b/out.json --\n":                                  "section a/in.json must be followed by a/out.json",
		"-- a/in.json --\n-- f/request --\n-- g/answer --\n-- a/out.json --\n": "section a/in.json must be followed by a/out.json",
	} {
		if _, err := parse([]byte(text)).calls(); err == nil || err.Error() != want {
			t.Errorf("want %s\nhave %v", want, err)
		}
	}
	if _, err := parse([]byte("clock: tomorrow\n")).clock(); err == nil {
		t.Error("a clock that cannot be read is an error")
	}
}
