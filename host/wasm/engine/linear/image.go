package linear

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
)

// ErrClosed is the error of adopting an image that was closed.
var ErrClosed = errors.New("the image is closed: capture another one")

// Image is what a memory was like at one moment. Nothing changes it, and any number of memories can adopt it at the same
// time. It may be used by many goroutines.
//
// It takes no more memory than Size says, once for all memories, and less as long as pages of it are zero and nobody
// looks at them. No budget is charged for it.
type Image struct {
	size     int
	contents contents

	mu     sync.Mutex
	users  int // its owner, until it is closed, and the memories that adopted it
	closed bool
}

// contents are the bytes of an image.
type contents interface {
	// granule returns the nth granule. It must not be written to.
	granule(n int) []byte
	close() error
}

const (
	// granuleSize is the unit in which bytes are compared, kept and copied. It divides every page size.
	granuleSize = 4 << 10
	// wasmPage is the unit in which a guest grows its memory.
	wasmPage = 64 << 10
)

var zeroGranule [granuleSize]byte

// Capture keeps what a memory is like now. The memory goes on as it is; it may adopt the image as any other may, and
// then shares what it had alone. It fails where the memory is not a whole number of WebAssembly pages.
func Capture(m *Memory) (*Image, error) {
	if len(m.buf)%wasmPage != 0 {
		return nil, fmt.Errorf("linear: a memory of %d bytes cannot be captured: its size must be a multiple of %d", len(m.buf), wasmPage)
	}
	i := &Image{size: len(m.buf), users: 1}
	if i.size > 0 {
		i.contents = m.store.capture()
	}
	return i, nil
}

// Size returns how many bytes a memory must have to adopt the image.
func (i *Image) Size() int { return i.size }

// Close gives up the image. No memory can adopt it any more. Memories that did so keep it, and the last one of them to
// be released gives its memory and descriptors back. To close it again does nothing.
func (i *Image) Close() error {
	i.mu.Lock()
	closed := i.closed
	i.closed = true
	i.mu.Unlock()
	if closed {
		return nil
	}
	return i.release()
}

// hold keeps the image for one more user, unless it is closed.
func (i *Image) hold() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return false
	}
	i.users++
	return true
}

// release undoes one hold.
func (i *Image) release() error {
	i.mu.Lock()
	i.users--
	last := i.users == 0
	i.mu.Unlock()
	if !last || i.contents == nil {
		return nil
	}
	return i.contents.close()
}

// kept are contents on the heap: the granules that are not zero, one after the other.
type kept struct {
	index []int32 // for each granule, which of those it is, or -1 where it is zero
	data  []byte
}

func keep(memory []byte) *kept {
	k := &kept{index: make([]int32, len(memory)/granuleSize)}
	used := 0
	for n := range k.index {
		k.index[n] = -1
		if !bytes.Equal(memory[n*granuleSize:(n+1)*granuleSize], zeroGranule[:]) {
			k.index[n] = int32(used)
			used++
		}
	}
	k.data = make([]byte, 0, used*granuleSize)
	for n, at := range k.index {
		if at >= 0 {
			k.data = append(k.data, memory[n*granuleSize:(n+1)*granuleSize]...)
		}
	}
	return k
}

func (k *kept) granule(n int) []byte {
	at := k.index[n]
	if at < 0 {
		return zeroGranule[:]
	}
	return k.data[int(at)*granuleSize : (int(at)+1)*granuleSize]
}

func (k *kept) close() error { return nil }

// copyBack makes a part of a memory what it is in the contents, and returns whether it was something else. Both from and
// to are multiples of the granule. Only what differs is written.
func copyBack(memory []byte, c contents, from, to int) (differed bool) {
	for n := from / granuleSize; n < to/granuleSize; n++ {
		part, was := memory[n*granuleSize:(n+1)*granuleSize], c.granule(n)
		if !bytes.Equal(part, was) {
			copy(part, was)
			differed = true
		}
	}
	return differed
}

// isAs returns whether a part of a memory is what it is in the contents. Both from and to are multiples of the granule.
func isAs(memory []byte, c contents, from, to int) bool {
	for n := from / granuleSize; n < to/granuleSize; n++ {
		if !bytes.Equal(memory[n*granuleSize:(n+1)*granuleSize], c.granule(n)) {
			return false
		}
	}
	return true
}
