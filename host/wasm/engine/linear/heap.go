package linear

// heap is a memory in a Go slice.
type heap struct {
	buf []byte
}

var _ store = (*heap)(nil)

// prepare implements store. What the heap does not have ends the process; it is never refused.
func (h *heap) prepare(uint64) bool { return true }

func (h *heap) grow(size uint64) []byte {
	if size > uint64(cap(h.buf)) {
		// A quarter more than is asked for, so that a guest that grows page by page does not copy its memory each time.
		// The pages beyond the length are not touched, and so cost address space only.
		room := size
		if len(h.buf) > 0 {
			room += size / 4
		}
		larger := make([]byte, size, room)
		copy(larger, h.buf)
		h.buf = larger
	}
	h.buf = h.buf[:size]
	return h.buf[:size:size]
}

func (h *heap) capture() contents { return keep(h.buf) }

func (h *heap) adopt(c contents) (int64, error) { return h.restore(c), nil }

func (h *heap) restore(c contents) int64 {
	copyBack(h.buf, c, 0, len(h.buf))
	return int64(len(h.buf))
}

func (h *heap) shrink(size uint64) []byte {
	clear(h.buf[size:])
	h.buf = h.buf[:size]
	return h.buf[:size:size]
}

func (h *heap) free() { h.buf = nil }
