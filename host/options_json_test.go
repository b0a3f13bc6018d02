package host_test

import (
	"testing"

	"github.com/weft-run/weft/host"
)

// An option that this package does not know by name is one among the others, in both directions.
func TestOptionsKeepUnknownNamesBesideTheOthers(t *testing.T) {
	const object = `{"store":false,"temperature":1,"seats":"none","top_k":40}`
	o, err := host.ParseOptions([]byte(object))
	if err != nil {
		t.Fatal(err)
	}
	if string(o.Extra["seats"]) != `"none"` || string(o.Extra["top_k"]) != "40" || len(o.Extra) != 2 {
		t.Errorf("Extra is %v, wanted seats and top_k", o.Extra)
	}
	raw, err := o.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if string(raw) != object {
		t.Errorf("options are written as %s, wanted %s", raw, object)
	}
}

func TestOptionsWithoutAnyAreAnEmptyObject(t *testing.T) {
	raw, err := host.Options{Extra: nil}.JSON()
	if err != nil || string(raw) != "{}" {
		t.Errorf("no options are written as %s, %v; wanted {}", raw, err)
	}
}
