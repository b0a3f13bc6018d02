package conformance_test

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/conformance"
)

func TestPlayingWithPluginsNeedsTheGuest(t *testing.T) {
	t.Parallel()
	s, err := conformance.Load("scenarios/provider-order-two-turns.json")
	if err != nil {
		t.Fatal(err)
	}
	r := conformance.Play(t.Context(), s, conformance.Options{Wasm: true})
	if r.Status != conformance.Fail || !strings.Contains(r.Differences[0].Have, "Options.Guest") {
		t.Errorf("status is %s: %v", r.Status, r.Differences)
	}
}

// What a plugin does is compared like what is native.
func TestPluginsAreCompared(t *testing.T) {
	options := withPlugins(t)
	for _, c := range []struct {
		edit edit
		path string
	}{
		{edit{"/expect/log/0", "before z"}, "/expect/log/0"},
		{edit{"/expect/requests/1/messages/2/text", "cz"}, "/expect/requests/1/messages/2/text"},
	} {
		s, err := conformance.Parse("edited.json", edited(t, "scenarios/provider-order-two-turns.json", c.edit))
		if err != nil {
			t.Fatal(err)
		}
		r := conformance.Play(t.Context(), s, options)
		if r.Status != conformance.Fail || len(r.Differences) != 1 || r.Differences[0].Path != c.path {
			t.Errorf("status is %s with %v, wanted one difference at %s", r.Status, r.Differences, c.path)
		}
	}
}

// What cannot be loaded is told as an agent that cannot be built. Without an engine of the caller's the scenario has one of
// its own.
func TestAGuestThatIsNoModule(t *testing.T) {
	t.Parallel()
	s, err := conformance.Load("scenarios/provider-order-two-turns.json")
	if err != nil {
		t.Fatal(err)
	}
	r := conformance.Play(t.Context(), s, conformance.Options{Wasm: true, Guest: []byte("no module")})
	if r.Status != conformance.Fail || r.Differences[0].Path != "/expect/build_error" {
		t.Errorf("status is %s: %v", r.Status, r.Differences)
	}
}
