//go:build !wasip1

package extism

import (
	"encoding/binary"
	"sync"
)

// Call runs hook against the stand-in for a host, with input as the call's input, and returns what it left there. Calls
// run one at a time, as they do in an instance of a plugin.
func Call(input []byte, hook func() int32) (returned int32, kept Kept) {
	mu.Lock()
	defer mu.Unlock()
	host = standIn{input: input}
	defer func() { host = standIn{} }()
	returned = hook()
	return returned, host.kept
}

type standIn struct {
	input  []byte
	memory []byte
	sizes  map[uint64]uint64
	kept   Kept
}

var (
	mu   sync.Mutex
	host standIn
)

func alloc(length uint64) uint64 {
	if host.sizes == nil {
		host.sizes = map[uint64]uint64{}
		host.memory = make([]byte, 8) // 0 is no address
	}
	offset := uint64(len(host.memory))
	host.sizes[offset] = length
	host.memory = append(host.memory, make([]byte, length)...)
	return offset
}

func free(offset uint64) { delete(host.sizes, offset) }

func storeU8(offset uint64, value uint32) { host.memory[offset] = byte(value) }

func storeU64(offset uint64, value uint64) {
	binary.LittleEndian.PutUint64(host.memory[offset:], value)
}

func inputLength() uint64 { return uint64(len(host.input)) }

func inputLoadU8(offset uint64) uint32 { return uint32(host.input[offset]) }

func inputLoadU64(offset uint64) uint64 { return binary.NativeEndian.Uint64(host.input[offset:]) }

func outputSet(offset, length uint64) {
	host.kept.Output = append([]byte(nil), host.memory[offset:offset+length]...)
}

func errorSet(offset uint64) { host.kept.Error = text(offset) }

func getLogLevel() int32 { return int32(LevelDebug) }

func logDebug(offset uint64) { logged(LevelDebug, offset) }
func logInfo(offset uint64)  { logged(LevelInfo, offset) }
func logWarn(offset uint64)  { logged(LevelWarn, offset) }
func logError(offset uint64) { logged(LevelError, offset) }

func logged(level Level, offset uint64) {
	host.kept.Lines = append(host.kept.Lines, Line{Level: level, Text: text(offset)})
}

func text(offset uint64) string { return string(host.memory[offset : offset+host.sizes[offset]]) }
