package pdk

import "runtime"

func init() {
	if runtime.GOARCH == "wasm" {
		prepare()
	}
}

// What prepare gets ready, in bytes.
const (
	heapRoom  = 512 << 10
	stackRoom = 12 << 10
	// smallMost is up to which size of values there is a place ready. Larger ones are ready without pointers in them, such
	// as inputs and texts, from longLeast to longMost.
	smallMost           = 256
	longLeast, longMost = 1 << 10, 4 << 10
)

// taken holds what prepare takes from the heap, so that it is not optimised away.
var taken struct {
	bytes    []byte
	pointers []*byte
}

// prepare gets ready what calls would otherwise have to get themselves, each anew: every call finds the memory as start
// and init left it. It saves a small call a third of its time, and more where each call would have had the host enlarge the
// memory and make it smaller again.
func prepare() {
	taken.bytes = make([]byte, heapRoom)
	taken.bytes = nil
	// Else memory could be just short of a collection, and each call would pay for one.
	runtime.GC()
	// The allocator has pages of its own for each size.
	for n := 8; n <= smallMost; n += 8 {
		taken.bytes, taken.pointers = make([]byte, n), make([]*byte, n/8)
	}
	for n := longLeast; n <= longMost; n += 256 {
		taken.bytes = make([]byte, n)
	}
	taken.bytes, taken.pointers = nil, nil
	deepen(0)
}

// deepen makes the stack as large as most calls need it. To grow it when a hook and all that it called are on it costs
// more than a small call otherwise does. A collection makes it smaller again.
//
//go:noinline
func deepen(n int) byte {
	var room [stackRoom]byte
	room[n] = 1
	return room[2*n]
}
