package kernel_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// model is what a kernel has to do, without saying how.
type model struct {
	*instance
	random *rand.Rand
	blocks map[uint64][]byte
	// order has the offsets of the blocks as they were made, so that a run can be repeated.
	order          []uint64
	output, failed []byte
	outputAt       uint64
	errorAt        uint64
}

// step does one thing to both, and compares.
func (m *model) step() {
	switch m.random.IntN(12) {
	case 0, 1, 2:
		m.alloc()
	case 3:
		m.put()
	case 4, 5:
		m.free()
	case 6, 7:
		m.store()
	case 8, 9:
		m.load()
	case 10:
		m.setOutput()
	case 11:
		m.setError()
	}
}

// size is mostly small, and sometimes large.
func (m *model) size() int {
	return 1 + m.random.IntN([]int{16, 16, 40, 300, 2000, 20_000}[m.random.IntN(6)])
}

func (m *model) alloc() {
	n := m.size()
	m.add(m.call("alloc", uint64(n)), make([]byte, n))
	m.write(m.order[len(m.order)-1], 0, m.bytes(n))
}

func (m *model) put() {
	data := m.bytes(m.size())
	offset, ok := m.Put(data)
	require.True(m.t, ok)
	m.add(offset, data)
}

func (m *model) bytes(n int) []byte {
	data := make([]byte, n)
	for at := range data {
		data[at] = byte(m.random.Uint32())
	}
	return data
}

// add notes a new block, which must not touch another one.
func (m *model) add(offset uint64, data []byte) {
	require.NotZero(m.t, offset)
	require.Zero(m.t, offset%16)
	end := offset + uint64(len(data))
	for other, bytes := range m.blocks {
		if end+16 > other && other+uint64(len(bytes))+16 > offset { // A header lies between any two of them.
			m.t.Fatalf("%d bytes at %d overlap %d at %d", len(data), offset, len(bytes), other)
		}
	}
	if len(m.output) > 0 {
		require.True(m.t, end <= m.outputAt || m.outputAt+uint64(len(m.output)) <= offset, "in the output")
	}
	require.NotEqual(m.t, m.errorAt, offset, "in the error")
	require.LessOrEqual(m.t, int64(end), m.Used())
	m.blocks[offset] = data
	m.order = append(m.order, offset)
}

// write stores through the kernel, in words and in bytes.
func (m *model) write(offset uint64, at int, data []byte) {
	copy(m.blocks[offset][at:], data)
	place := offset + uint64(at)
	for len(data) >= 8 {
		m.call("store_u64", place, binary.LittleEndian.Uint64(data))
		data, place = data[8:], place+8
	}
	for n, b := range data {
		m.call("store_u8", place+uint64(n), uint64(b))
	}
}

func (m *model) pick() (uint64, bool) {
	if len(m.order) == 0 {
		return 0, false
	}
	// Often one of the last, as guests do.
	n := m.random.IntN(len(m.order))
	if m.random.IntN(2) == 0 {
		n = len(m.order) - 1 - n*n/(len(m.order)*4)
	}
	return m.order[n], true
}

func (m *model) free() {
	offset, ok := m.pick()
	if !ok {
		return
	}
	data := m.blocks[offset]
	pinned := offset == m.errorAt
	if len(m.output) > 0 {
		// Where the padding after a block is in the output the block may stay too, and no output begins there.
		pinned = pinned || offset < m.outputAt+uint64(len(m.output)) && m.outputAt < offset+uint64(len(data))
	}
	m.call("free", offset)
	if pinned {
		require.EqualValues(m.t, len(data), m.call("length", offset), "kept for the host")
		return
	}
	delete(m.blocks, offset)
	m.order = slices.DeleteFunc(m.order, func(o uint64) bool { return o == offset })
	require.Zero(m.t, m.call("length", offset))
	_, ok = m.Block(offset)
	require.False(m.t, ok)
	m.call("free", offset) // a second time, which does nothing
}

func (m *model) store() {
	offset, ok := m.pick()
	if !ok {
		return
	}
	at := m.random.IntN(len(m.blocks[offset]))
	m.write(offset, at, m.bytes(min(m.size(), len(m.blocks[offset])-at)))
	m.sync()
}

// sync takes over what was written to the output after it was set.
func (m *model) sync() {
	for _, offset := range m.order {
		data := m.blocks[offset]
		if m.outputAt >= offset && m.outputAt < offset+uint64(len(data)) {
			m.output = data[m.outputAt-offset:][:len(m.output)]
		}
	}
}

func (m *model) load() {
	offset, ok := m.pick()
	if !ok {
		return
	}
	data := m.blocks[offset]
	at := m.random.IntN(len(data))
	require.EqualValues(m.t, data[at], m.call("load_u8", offset+uint64(at)))
	if at+8 <= len(data) {
		require.Equal(m.t, binary.LittleEndian.Uint64(data[at:]), m.call("load_u64", offset+uint64(at)))
	}
	require.EqualValues(m.t, len(data), m.call("length", offset))
	block, ok := m.Block(offset)
	require.True(m.t, ok)
	require.True(m.t, bytes.Equal(data, block), "block at %d", offset)
}

func (m *model) setOutput() {
	offset, ok := m.pick()
	if !ok {
		return
	}
	data := m.blocks[offset]
	at := m.random.IntN(len(data))
	data = data[at:]
	m.call("output_set", offset+uint64(at), uint64(len(data)))
	m.outputAt, m.output = offset+uint64(at), data
}

func (m *model) setError() {
	offset, ok := m.pick()
	if !ok || m.random.IntN(3) == 0 {
		m.call("error_set", 0)
		m.errorAt, m.failed = 0, nil
		return
	}
	m.call("error_set", offset)
	m.errorAt, m.failed = offset, m.blocks[offset]
}

// check compares all that is there.
func (m *model) check() {
	for offset, data := range m.blocks {
		block, ok := m.Block(offset)
		require.True(m.t, ok)
		require.True(m.t, bytes.Equal(data, block), "block at %d", offset)
	}
	output, ok := m.Output()
	require.True(m.t, ok)
	require.True(m.t, bytes.Equal(m.output, output), "output")
	text, set := m.ErrorText()
	require.Equal(m.t, m.errorAt != 0, set)
	require.True(m.t, bytes.Equal(m.failed, text), "error")
}

func TestRandomCallsAgainstAModel(t *testing.T) {
	i := newMachine(t, 2000).instance(t)
	for seed := range uint64(15) {
		input := bytes.Repeat([]byte{byte(seed)}, int(seed)*7)
		require.True(t, i.Begin(input, -1))
		m := &model{instance: i, random: rand.New(rand.NewPCG(seed, 1)), blocks: map[uint64][]byte{}}
		for range 500 {
			m.step()
		}
		m.check()
		data, ok := i.Block(528)
		require.True(t, ok)
		require.True(t, bytes.Equal(input, data), "the input stays what it was")

		// Freed one by one in any order, all of it is given back.
		m.call("output_set", 0, 0)
		m.call("error_set", 0)
		m.outputAt, m.output, m.errorAt = 0, nil, 0
		m.random.Shuffle(len(m.order), func(a, b int) { m.order[a], m.order[b] = m.order[b], m.order[a] })
		for _, offset := range m.order {
			m.call("free", offset)
		}
		require.EqualValues(t, 528+max(16, (len(input)+15)/16*16), i.mod.ExportedGlobal("top").Get(), "seed %d", seed)
		i.Reset()
	}
}
