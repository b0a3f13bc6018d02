package kernel

import (
	"fmt"

	"github.com/tetratelabs/wazero/api"
)

// Kernel is one instance of the module, as its host sees it. One goroutine at a time may use it: the one that runs the
// guest, before the call, in host functions, and after it.
//
// No method allocates, and none panics, whatever the guest wrote to the memory. The slices that methods return are views
// of that memory: good until the guest goes on, or the next call of Begin, Put or Reset.
type Kernel struct {
	mod                      api.Module
	memory                   api.Memory
	top, inputAt, inputWords api.MutableGlobal
	// alloc is the function of that name. It is made when it is first needed, with a stack of its own.
	alloc api.Function
	stack [1]uint64
}

// Bind returns the Kernel of an instance of the module, ready for Begin and for a guest that runs before the first
// Begin. It fails where mod is something else.
func Bind(mod api.Module) (*Kernel, error) {
	k := &Kernel{mod: mod, memory: mod.Memory()}
	for name, to := range map[string]*api.MutableGlobal{
		globalTop: &k.top, globalInputAt: &k.inputAt, globalInputWords: &k.inputWords,
	} {
		global, ok := mod.ExportedGlobal(name).(api.MutableGlobal)
		if !ok {
			return nil, fmt.Errorf("kernel: the module has no mutable global %s: instantiate what Module returns", name)
		}
		*to = global
	}
	k.Begin(nil, 0)
	return k, nil
}

// Resolve returns the instance for ModuleEnv and nil for all other modules. It is an experimental.ImportResolver: with it
// in the context, a guest that is instantiated is linked to this instance.
func (k *Kernel) Resolve(module string) api.Module {
	if module == ModuleEnv {
		return k.mod
	}
	return nil
}

// Begin gives the guest its input, and says how many bytes its output may have; a negative limit is none. It is to be
// called on a kernel that is clean: one that was just made, or after Reset. It returns false where there is no room for
// the input.
func (k *Kernel) Begin(input []byte, outputLimit int64) bool {
	n := uint64(len(input))
	if n > most-start {
		return false
	}
	if !k.reserve(start + capacityFor(n)) {
		return false
	}
	memory := k.bytes()
	copy(memory[start:], input)
	k.lay(memory, n)
	setWord(memory, stateOutputLimit, uint64(max(outputLimit, -1))) // -1 is more than any length
	return true
}

// lay makes the first block, of an input of n bytes, the only one in a memory that is otherwise clean.
func (k *Kernel) lay(memory []byte, n uint64) {
	capacity := capacityFor(n)
	top := start + capacity
	headerOf(memory, start).set(start, capacity, n, 0)
	setWord(memory, stateHigh, top)
	setWord(memory, stateFloor, top)
	setWord(memory, stateLast, start)
	setWord(memory, stateInputLength, n)
	k.top.Set(top)
	k.inputAt.Set(start)
	k.inputWords.Set(max(n, 7) - 7)
}

// Reset forgets the call. The bytes that were used are zeroed, so that no call reads what an earlier one left. The
// memory stays as large as it is; see Size. What a guest does between Reset and Begin, it does with no input and without
// the right to put anything out.
//
// Where the host has another way to make the memory all zero, that way and the next Begin do the same.
func (k *Kernel) Reset() {
	memory := k.bytes()
	clear(memory[:min(max(word(memory, stateHigh), start), uint64(len(memory)))])
	k.lay(memory, 0)
}

// Used returns how much of the memory was used since Begin, in bytes: what Reset has to zero.
func (k *Kernel) Used() int64 {
	memory := k.bytes()
	return int64(min(word(memory, stateHigh), uint64(len(memory))))
}

// Size returns how large the memory is, in bytes. It grows when it has to and does not shrink.
func (k *Kernel) Size() int64 { return int64(k.memory.Size()) }

// Refused says whether there was no room for a block since Begin. A guest that traps after that most likely ran out of
// memory.
//
// The memory is asked to grow to twice its size first and then to what is needed, so an allocator that was asked in
// vain does not know it.
func (k *Kernel) Refused() bool { return word(k.bytes(), stateRefused) != 0 }

// InputLength returns how long the input is that the guest sees. It is 0 once the guest has freed it.
func (k *Kernel) InputLength() int64 { return int64(word(k.bytes(), stateInputLength)) }

// Output returns what the guest put out: nothing, where it put out nothing. It returns false where that is not to be
// had, and that is not known to happen.
func (k *Kernel) Output() ([]byte, bool) {
	memory := k.bytes()
	offset, length := word(memory, stateOutputOffset), word(memory, stateOutputLength)
	if length == 0 {
		return nil, true
	}
	return slice(memory, uint64(len(memory)), offset, length)
}

// ErrorText returns the text that the guest set as its error, and false where it set none. The text is empty where the
// guest has destroyed the block since.
func (k *Kernel) ErrorText() ([]byte, bool) {
	offset := word(k.bytes(), stateError)
	if offset == 0 {
		return nil, false
	}
	text, _ := k.Block(offset)
	return text, true
}

// Block returns the bytes of the block that begins at offset, and false where none does. Offset is what a guest gave: any
// number at all.
func (k *Kernel) Block(offset uint64) ([]byte, bool) {
	memory := k.bytes()
	top := min(k.top.Get(), uint64(len(memory)))
	if offset < start || offset >= top || offset%least != 0 {
		return nil, false
	}
	h := headerOf(memory, offset)
	if !h.isLive(offset) {
		return nil, false
	}
	return slice(memory, top, offset, h.length())
}

// slice returns length bytes from offset, and whether they lie between start and end. The sum of the two is never
// formed.
func slice(memory []byte, end, offset, length uint64) ([]byte, bool) {
	if offset < start || offset > end || length > end-offset {
		return nil, false
	}
	return memory[offset : offset+length : offset+length], true
}

// bytes returns all of the memory.
func (k *Kernel) bytes() []byte {
	memory, _ := k.memory.Read(0, k.memory.Size())
	return memory
}

// reserve makes the memory reach up to end: twice as large as it was, or where that is too much, as large as needed.
func (k *Kernel) reserve(end uint64) bool {
	size := uint64(k.memory.Size())
	if end <= size {
		return true
	}
	missing := (end - size + page - 1) / page
	if pages := size / page; missing < pages {
		if _, ok := k.memory.Grow(uint32(pages)); ok {
			return true
		}
	}
	_, ok := k.memory.Grow(uint32(missing))
	return ok
}
