package conformance_test

import (
	"bytes"
	"testing"

	"github.com/weft-run/weft/conformance"
)

// module is the smallest one with three exports of the same function, and a section behind them.
func module(exports ...string) []byte {
	section := []byte{byte(len(exports))}
	for _, name := range exports {
		section = append(append(append(section, byte(len(name))), name...), 0, 0)
	}
	b := []byte("\x00asm\x01\x00\x00\x00" +
		"\x01\x05\x01\x60\x00\x01\x7f" + // one type: () -> i32
		"\x03\x02\x01\x00") // one function of it
	b = append(append(b, 7, byte(len(section))), section...)
	return append(b, "\x0a\x06\x01\x04\x00\x41\x00\x0b"...) // its code: 0
}

func TestExportsAreTakenAway(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		have, want []string
	}{
		{"both", []string{"before_run", "process", "after_run"}, []string{"process"}},
		{"one of them", []string{"process", "after_run"}, []string{"process"}},
		{"none of them", []string{"process", "before_runs"}, []string{"process", "before_runs"}},
		{"all there are", []string{"before_run"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			have, err := conformance.WithoutExports(module(c.have...), "before_run", "after_run")
			if want := module(c.want...); err != nil || !bytes.Equal(have, want) {
				t.Errorf("want %q\nhave %q, %v", want, have, err)
			}
		})
	}
}

// What is cut off anywhere is no module, and nothing is read beyond its end.
func TestExportsOfWhatIsNoModule(t *testing.T) {
	t.Parallel()
	whole := module("before_run", "process")
	end := len(whole) - 8 // the section behind the exports is not looked at
	for n := range end {
		if _, err := conformance.WithoutExports(whole[:n], "before_run"); err == nil {
			t.Errorf("the first %d bytes are taken for a module", n)
		}
	}
	for _, at := range []int{20, 21} { // the size of the section, and the number of its entries
		broken := bytes.Clone(whole)
		broken[at] = 0x7f
		if _, err := conformance.WithoutExports(broken, "before_run"); err == nil {
			t.Errorf("with byte %d broken it is taken for a module", at)
		}
	}
}

func FuzzExportsAreTakenAway(f *testing.F) {
	f.Add(module("before_run", "process"))
	f.Add([]byte("\x00asm\x01\x00\x00\x00\x07\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		once, err := conformance.WithoutExports(data, "before_run")
		if err != nil {
			return
		}
		again, err := conformance.WithoutExports(once, "before_run")
		if err != nil || !bytes.Equal(once, again) {
			t.Errorf("taken away twice it is another: %v", err)
		}
	})
}
