//go:build !linux

package linear

import "testing"

// way is one of the ways in which memories and images can lie, for tests that go through all of them. Here is one.
type way struct {
	name          string
	source, store func(max uint64) store
}

func ways() []way { return []way{{name: "slice", source: newStore, store: newStore}} }

func contenders() []contender { return ownContenders() }

// capture captures a memory in this way.
func (w way) capture(t testing.TB, m *Memory) *Image {
	t.Helper()
	i, err := Capture(m)
	if err != nil {
		t.Fatal(err)
	}
	return i
}
