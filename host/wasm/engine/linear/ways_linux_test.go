package linear

import "testing"

// way is one of the ways in which memories and images can lie, for tests that go through all of them.
type way struct {
	name string
	// source makes the store of a memory that is captured, store that of one that adopts the image.
	source, store func(max uint64) store
	// alter changes how an image is used that was captured, where that is not nil.
	alter func(*Image)
}

func inSlice(uint64) store { return new(heap) }

func ways() []way {
	return []way{
		{name: "mapped", source: newStore, store: newStore},
		{name: "mapped, with a pagemap", source: newStore, store: newStore, alter: func(i *Image) {
			i.contents.(*file).finder.ask = askPagemap
		}},
		{name: "mapped, with nothing known", source: newStore, store: newStore, alter: func(i *Image) {
			f := i.contents.(*file)
			_ = f.finder.close()
			f.finder = nil
		}},
		{name: "slice", source: inSlice, store: inSlice},
		{name: "slice of a file", source: newStore, store: inSlice},
		{name: "mapped of a slice", source: inSlice, store: newStore},
	}
}

// capture captures a memory in this way.
func (w way) capture(t testing.TB, m *Memory) *Image {
	t.Helper()
	i, err := Capture(m)
	if err != nil {
		t.Fatal(err)
	}
	if w.alter != nil && i.Size() > 0 {
		w.alter(i)
	}
	return i
}
