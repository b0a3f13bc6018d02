package kernel_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// hostile is a guest that writes over the headers of its blocks and calls with numbers of its own making. What it does is
// read from bytes.
type hostile struct {
	*instance
	script []byte
	blocks []uint64
}

func (h *hostile) next() byte {
	if len(h.script) == 0 {
		return 0
	}
	b := h.script[0]
	h.script = h.script[1:]
	return b
}

// offset is one that may do harm: a block, a place in or before it, or none at all.
func (h *hostile) offset() uint64 {
	switch kind := h.next(); {
	case kind < 100 && len(h.blocks) > 0:
		return h.blocks[int(h.next())%len(h.blocks)]
	case kind < 180 && len(h.blocks) > 0:
		return h.blocks[int(h.next())%len(h.blocks)] + uint64(int8(h.next()))
	case kind < 200:
		return 528 + 16*uint64(h.next())
	case kind < 220:
		return i64s[int(h.next())%len(i64s)]
	default:
		return 512 + uint64(h.next())
	}
}

var i64s = []uint64{0, 1, 15, 511, 527, 1 << 31, 1<<32 - 16, 1<<32 - 1, 1 << 32, 1<<32 + 528, 1 << 63, math.MaxUint64 - 7, math.MaxUint64}

// word is 4 bytes of a header that may do harm.
func (h *hostile) word() uint64 {
	switch kind := h.next(); {
	case kind < 60:
		return h.offset() ^ 0x6576696c
	case kind < 120:
		return h.offset() ^ 0x65657266
	case kind < 200:
		return h.offset()
	case kind < 220:
		return i64s[int(h.next())%len(i64s)]
	default:
		return uint64(h.next())
	}
}

func (h *hostile) step() {
	function, params := "", []uint64(nil)
	switch h.next() % 16 {
	case 0, 1, 2:
		function, params = "alloc", []uint64{uint64(h.next()) * uint64(1+h.next()%8)}
	case 3, 4:
		function, params = "free", []uint64{h.offset()}
	case 5, 6, 7, 8:
		// Two words of a header, or of what a freed block holds.
		at := h.offset()
		if h.next()%2 == 0 {
			at -= 16
		} else {
			at -= 8
		}
		function, params = "store_u64", []uint64{at, h.word() | h.word()<<32}
	case 9:
		function, params = "store_u64", []uint64{h.offset(), h.word() | h.word()<<32}
	case 10:
		function, params = "output_set", []uint64{h.offset(), h.word()}
	case 11:
		function, params = "error_set", []uint64{h.offset()}
	case 12:
		function, params = "length", []uint64{h.offset()}
	case 13:
		_, ok := h.Put(make([]byte, int(h.next())*5))
		require.True(h.t, ok || h.Refused())
	case 14:
		h.Block(h.offset())
	case 15:
		switch h.next() % 8 {
		case 0:
			function = "reset"
		case 1, 2:
			function, params = "input_set", []uint64{h.offset(), h.word()}
		case 3:
			function, params = "alloc", []uint64{i64s[int(h.next())%len(i64s)]}
		default:
			function, params = "input_load_u64", []uint64{h.word()}
		}
	}
	if function == "" {
		return
	}
	defer h.bounded()
	result, err := h.try(function, params...)
	fault, faulty := h.Fault()
	require.Equal(h.t, err != nil, faulty, "%s %v: %v", function, params, err)
	if faulty {
		require.Equal(h.t, function, fault.Function)
		h.forgive()
	}
	if function == "alloc" && result != 0 {
		top := h.mod.ExportedGlobal("top").Get()
		require.LessOrEqual(h.t, result+params[0], top, "what it got is there")
		h.blocks = append(h.blocks, result)
	}
}

// forgive lets the guest go on after a fault, which it cannot do in earnest.
func (h *hostile) forgive() {
	require.True(h.t, h.mod.Memory().WriteUint64Le(56, 0))
}

// bounded says that the guest can reach what it may and no more.
func (h *hostile) bounded() {
	top := h.mod.ExportedGlobal("top").Get()
	if floor, _ := h.mod.Memory().ReadUint64Le(48); floor < 544 || top < floor || int64(top) > h.Size() {
		h.t.Fatalf("top is %d, floor %d, the memory has %d", top, floor, h.Size())
	}
}

// holds says that nothing came into disorder that the host relies on.
func (h *hostile) holds() {
	memory := h.mod.Memory()
	top := h.mod.ExportedGlobal("top").Get()
	require.LessOrEqual(h.t, int64(top), h.Used())
	require.LessOrEqual(h.t, h.Used(), h.Size())
	_, ok := h.Output()
	require.True(h.t, ok)
	h.ErrorText()
	unused, _ := memory.Read(96, 32)
	require.Equal(h.t, make([]byte, 32), unused)
	if high := uint32(h.Used()); int64(high) < h.Size() {
		rest, ok := memory.Read(high, uint32(h.Size())-high)
		require.True(h.t, ok)
		require.Empty(h.t, bytes.TrimLeft(rest[:min(len(rest), 4096)], "\x00"), "beyond what is known to be used")
	}
}

func (h *hostile) run(script []byte) {
	h.script, h.blocks = script, nil
	require.True(h.t, h.Begin(script[:min(len(script), 100)], 1<<20))
	for len(h.script) > 0 {
		h.step()
	}
	h.holds()
	h.Reset()
	memory, _ := h.mod.Memory().Read(544, uint32(h.Size())-544)
	require.Empty(h.t, bytes.TrimLeft(memory, "\x00"))
}

func FuzzHostileGuest(f *testing.F) {
	f.Add([]byte{0, 40, 1, 0, 40, 1, 3, 0, 0, 0, 30, 1})
	f.Add([]byte{0, 40, 1, 5, 0, 0, 0, 0, 150, 0, 0, 3, 0, 0})
	m := newMachine(f, 64)
	f.Fuzz(func(t *testing.T, script []byte) {
		(&hostile{instance: m.instance(t)}).run(script)
	})
}

func TestHostileGuestHarmsNobody(t *testing.T) {
	i := newMachine(t, 64).instance(t)
	random := rand.New(rand.NewPCG(1, 2))
	for range 600 {
		script := make([]byte, random.IntN(2000))
		for at := 0; at+8 <= len(script); at += 8 {
			binary.LittleEndian.PutUint64(script[at:], random.Uint64())
		}
		(&hostile{instance: i}).run(script)
	}
}

func TestForgedListsEnd(t *testing.T) {
	const free = 0x65657266
	i := newInstance(t)
	require.True(t, i.Begin(nil, -1))
	a, b, last := i.call("alloc", 2000), i.call("alloc", 2000), i.call("alloc", 16)
	i.call("free", a)
	i.call("free", b)
	// Two freed blocks, each the next of the other, and both too small.
	for _, pair := range [][2]uint64{{a, b}, {b, a}} {
		i.call("store_u64", pair[0]-16, (pair[0]^free)|1040<<32)
		i.call("store_u64", pair[0]-8, pair[1])
	}
	require.NotZero(t, i.call("alloc", 2000))
	// The last block says that the one before it is itself.
	i.call("free", i.call("alloc", 8))
	i.call("store_u64", last-8, 16|last<<32)
	i.call("free", last)
	require.NotZero(t, i.call("alloc", 2000))

	// A list that leads out of the memory.
	i.Reset()
	require.True(t, i.Begin(nil, -1))
	a = i.call("alloc", 100)
	i.call("alloc", 1)
	i.call("free", a)
	for _, next := range []uint64{1 << 20, 0xfffffff0, 16, 512, 3} {
		i.call("store_u64", a-8, next)
		i.call("store_u64", a, next)
		require.Equal(t, a, i.call("alloc", 100))
		require.NotZero(t, i.call("alloc", 100))
		i.call("free", a)
	}
}

func TestForgedBlockBeforeTheFirst(t *testing.T) {
	i := newInstance(t)
	require.True(t, i.Begin(nil, -1))
	i.call("alloc", 16)
	last := i.call("alloc", 16)
	for _, forged := range []uint64{528, 544} {
		i.call("store_u64", 528, (544^0x65657266)|16<<32)
		i.call("store_u64", last-8, 16|forged<<32)
		i.call("free", last)
		_, err := i.try("store_u64", 520, math.MaxUint64)
		require.Error(t, err)
		require.NotZero(t, i.call("alloc", 16))
	}
}

func TestForgedLengthIsNotBelieved(t *testing.T) {
	i := newInstance(t)
	require.True(t, i.Begin(nil, -1))
	block := i.call("alloc", 16)
	i.call("store_u64", block-8, math.MaxUint32)
	_, ok := i.Block(block)
	require.False(t, ok)
	i.call("error_set", block)
	text, set := i.ErrorText()
	require.True(t, set)
	require.Empty(t, text)
	i.call("store_u64", block-8, 17)
	_, ok = i.Block(block)
	require.False(t, ok)
	i.call("store_u64", block-8, 16)
	_, ok = i.Block(block)
	require.True(t, ok)
}
