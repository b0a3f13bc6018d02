package linear

import (
	"fmt"

	"github.com/tetratelabs/wazero/experimental"
)

// Budget is asked before memory is taken, and told when it is given back. Its methods are called by whoever uses the
// memory.
type Budget interface {
	// Take reserves n bytes. Where they are not to be had it reserves nothing and returns false.
	Take(n int64) bool
	// Give returns n bytes that Take reserved.
	Give(n int64)
}

// Memory is the linear memory of one instance, from New to Release. It is used by one goroutine at a time.
type Memory struct {
	max    uint64
	budget Budget
	// prepaid is what Prepay took from the budget and Reallocate has not yet handed out.
	prepaid int64
	store   store
	buf     []byte
	image   *Image
	private int64
	// cutting says that the next Reallocate is to take memory back; see Shrink.
	cutting bool
}

var _ experimental.LinearMemory = (*Memory)(nil)

// store is where the bytes of a memory lie.
type store interface {
	// prepare makes sure that grow can return size bytes, or returns false.
	prepare(size uint64) bool
	// grow returns size bytes, which is more than there were: those that there were, and zeros. It returns nil where
	// they are not to be had, and then nothing has changed.
	grow(size uint64) []byte
	// capture keeps what the bytes are now.
	capture() contents
	// adopt makes the bytes what they are in an image of the same size, and returns how many of them are not shared.
	// After an error the bytes must not be looked at.
	adopt(contents) (private int64, err error)
	// restore undoes what was written since adopt, and returns how many bytes are not shared.
	restore(contents) (private int64)
	// shrink returns the first size bytes, which is fewer than there were. What lay behind them is zero if they grow again.
	shrink(size uint64) []byte
	// free gives everything back. The store is not used afterwards.
	free()
}

// New returns an empty memory that can grow to max bytes. Address space for all of it is reserved when the first bytes
// are asked for, on Linux; memory is used only for what is written. The budget is charged for the bytes that the guest
// has, whether it writes to them or not. A nil budget has no limit.
func New(max uint64, b Budget) *Memory {
	if b == nil {
		b = unlimited{}
	}
	return &Memory{max: max, budget: b}
}

// unlimited is the budget of a memory that has none.
type unlimited struct{}

func (unlimited) Take(int64) bool { return true }
func (unlimited) Give(int64)      {}

// Prepay takes the next n bytes from the budget before they are asked for, and gets them ready. It returns false where
// they are not to be had, and then nothing was taken. WebAssembly runtimes take the minimum of a memory for granted, so
// it is prepaid before an instance is made.
func (m *Memory) Prepay(n int64) bool {
	if n < 0 || !m.budget.Take(n) {
		return false
	}
	if size := uint64(int64(len(m.buf)) + m.prepaid + n); size > m.max || !m.backed().prepare(size) {
		m.budget.Give(n)
		return false
	}
	m.prepaid += n
	return true
}

// Reallocate makes the memory size bytes long, for wazero. What is new is zero. It does not shrink the memory, but for
// Shrink: a smaller size returns it as it is. It returns nil, and changes nothing, where the budget or the system refuses, and beyond the
// maximum. The budget is asked in that case too, so that it knows what was wanted.
func (m *Memory) Reallocate(size uint64) []byte {
	if m.cutting {
		m.cut()
		return m.buf
	}
	have := uint64(len(m.buf))
	if size <= have {
		return m.buf
	}
	grown := int64(size - have)
	paid := min(grown, m.prepaid)
	if !m.budget.Take(grown - paid) {
		return nil
	}
	var buf []byte
	if size <= m.max {
		buf = m.backed().grow(size)
	}
	if buf == nil {
		m.budget.Give(grown - paid)
		return nil
	}
	m.prepaid -= paid
	m.buf, m.private = buf, int64(size)
	return m.buf
}

// backed returns the store, which is made when it is first needed.
func (m *Memory) backed() store {
	if m.store == nil {
		m.store = newStore(m.max)
	}
	return m.store
}

// Free does nothing. It is there for wazero, which calls it when a module is closed: also when a guest exits in the middle
// of a call, and when somebody closes the runtime while a guest runs. A guest, or whoever reads what it left, would then
// find nothing at the addresses of its memory, and the process would end by that. Who made the memory releases it.
func (m *Memory) Free() {}

// Release gives everything back: memory, address space, what the budget was charged, and the image. To release it again
// does nothing. No guest may be running, and slices of the memory must not be used afterwards, those that the WebAssembly
// runtime gave out included.
func (m *Memory) Release() {
	if m.store != nil {
		m.store.free()
	}
	if m.image != nil {
		_ = m.image.release() // the image is given back all the same
	}
	if n := int64(len(m.buf)) + m.prepaid; n > 0 {
		m.budget.Give(n)
	}
	m.store, m.image, m.buf, m.prepaid, m.private = nil, nil, nil, 0, 0
}

// Bytes returns the memory as the guest sees it. It is good until the memory grows or is released.
func (m *Memory) Bytes() []byte { return m.buf }

// Adopt gives the memory the contents of an image of the same size, and makes it what Restore goes back to. Until it is
// released the memory keeps the image from being given back, whether that is closed or not. Where pages can be shared they
// are, else the contents are copied.
//
// A memory that has an image already gets the new one instead.
//
// It fails where the sizes differ and where the image is closed; the memory is then as it was. Any other error leaves a
// memory that can only be released.
func (m *Memory) Adopt(i *Image) error {
	switch {
	case len(m.buf) != i.size:
		return fmt.Errorf("linear: the memory has %d bytes and the image %d: grow the memory to the size of the image first", len(m.buf), i.size)
	case !i.hold():
		return fmt.Errorf("linear: adopt: %w", ErrClosed)
	}
	var err error
	if i.size > 0 {
		m.private, err = m.store.adopt(i.contents)
	}
	if m.image != nil {
		_ = m.image.release() // as in Release
	}
	m.image = i
	return err
}

// Restore makes every byte what it is in the adopted image, whatever was written and however the call ended that wrote
// it. It returns false, and does nothing, where it cannot: the memory has no image, or has grown since it adopted one. A
// guest must not be running.
func (m *Memory) Restore() bool {
	if m.image == nil || len(m.buf) != m.image.size {
		return false
	}
	if len(m.buf) > 0 {
		m.private = m.store.restore(m.image.contents)
	}
	return true
}

// Shrink makes a memory that has grown since it adopted its image as large as that again, and says whether it is so. What
// had been added goes back to the budget.
//
// WebAssembly has no way to shrink a memory, so wazero has none either. But it takes whatever Reallocate returns for the
// memory's new bytes. grow is to ask it for one more page (api.Memory.Grow), and what it gets then is the memory as it was
// in the image. Where that page lies beyond the memory's declared maximum grow fails, and nothing has changed. Whether the
// runtime sees the memory as it is now is for the caller to check. A guest must not be running.
func (m *Memory) Shrink(grow func() bool) bool {
	if m.image == nil {
		return false
	}
	if len(m.buf) > m.image.size {
		m.cutting = true
		grow()
		m.cutting = false
	}
	return len(m.buf) == m.image.size
}

// cut takes back what lies behind the image.
func (m *Memory) cut() {
	if len(m.buf) > m.image.size {
		m.budget.Give(int64(len(m.buf) - m.image.size))
		m.buf = m.store.shrink(uint64(m.image.size))
	}
}

// Private returns how many bytes of the memory are its own and not shared with others, at the most, as of the last Adopt
// or Restore. What the guest has written since is not counted. A memory that shares nothing counts with all its bytes.
func (m *Memory) Private() int64 { return m.private }
