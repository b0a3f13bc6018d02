//go:build !wasip1

package extism

import (
	"encoding/binary"
	"sync"
)

// Call runs hook against the stand-in for a host, with input as the call's input, and returns what it left there. Calls
// run one at a time, as they do in an instance of a plugin; while a function of the host is under way another one may run,
// as where call_next leads to a hook of the same plugin.
func Call(input []byte, host Host, hook func() int32) (returned int32, kept Kept) {
	mu.Lock()
	defer mu.Unlock()
	current = standIn{input: input, host: host, memory: make([]byte, 8), sizes: map[uint64]uint64{}} // 0 is no address
	defer func() { current = standIn{} }()
	returned = hook()
	return returned, current.kept
}

type standIn struct {
	host   Host
	input  []byte
	memory []byte
	sizes  map[uint64]uint64
	kept   Kept

	status  int
	headers string
}

var (
	mu      sync.Mutex
	current standIn
)

// foreign calls f, which is the test's, with the host out of the hook's hands.
func foreign(f func(host Host)) {
	own := current
	mu.Unlock()
	defer func() {
		mu.Lock()
		current = own
	}()
	f(own.host)
}

func alloc(length uint64) uint64 {
	if current.sizes == nil {
		panic("there is no host here: package pdktest calls hooks, and stands in for one")
	}
	offset := uint64(len(current.memory))
	current.sizes[offset] = length
	current.memory = append(current.memory, make([]byte, length)...)
	return offset
}

func free(offset uint64) { delete(current.sizes, offset) }

func length(offset uint64) uint64 { return current.sizes[offset] }

func loadU8(offset uint64) uint32 { return uint32(current.memory[offset]) }

func loadU64(offset uint64) uint64 { return binary.NativeEndian.Uint64(current.memory[offset:]) }

func storeU8(offset uint64, value uint32) { current.memory[offset] = byte(value) }

func storeU64(offset uint64, value uint64) {
	binary.LittleEndian.PutUint64(current.memory[offset:], value)
}

func inputLength() uint64 { return uint64(len(current.input)) }

func inputLoadU8(offset uint64) uint32 { return uint32(current.input[offset]) }

func inputLoadU64(offset uint64) uint64 { return binary.NativeEndian.Uint64(current.input[offset:]) }

func outputSet(offset, length uint64) {
	current.kept.Output = append([]byte(nil), current.memory[offset:offset+length]...)
}

func errorSet(offset uint64) { current.kept.Error = text(offset) }

func getLogLevel() int32 { return int32(LevelDebug) }

func logDebug(offset uint64) { logged(LevelDebug, offset) }
func logInfo(offset uint64)  { logged(LevelInfo, offset) }
func logWarn(offset uint64)  { logged(LevelWarn, offset) }
func logError(offset uint64) { logged(LevelError, offset) }

func logged(level Level, offset uint64) {
	current.kept.Lines = append(current.kept.Lines, Line{Level: level, Text: text(offset)})
}

func text(offset uint64) string { return string(current.memory[offset : offset+current.sizes[offset]]) }

func callNext(input uint64) uint64    { return function("call_next", input) }
func getMessages(input uint64) uint64 { return function("get_messages", input) }
func kvGet(input uint64) uint64       { return function("kv_get", input) }
func kvSet(input uint64) uint64       { return function("kv_set", input) }
func kvDelete(input uint64) uint64    { return function("kv_delete", input) }
func kvList(input uint64) uint64      { return function("kv_list", input) }
func complete(input uint64) uint64    { return function("complete", input) }
func embed(input uint64) uint64       { return function("embed", input) }
func search(input uint64) uint64      { return function("search", input) }
func indexPut(input uint64) uint64    { return function("index_put", input) }
func indexDelete(input uint64) uint64 { return function("index_delete", input) }
func emit(input uint64) uint64        { return function("emit", input) }
func request(input uint64) uint64     { return function("request", input) }

func function(name string, input uint64) (offset uint64) {
	given, output := text(input), ""
	foreign(func(host Host) { output = host.Function(name, given) })
	return store([]byte(output))
}

func httpRequest(request, body uint64) uint64 {
	about, content, answer := text(request), text(body), ""
	status, headers := 0, ""
	foreign(func(host Host) { status, headers, answer = host.HTTP(about, content) })
	current.status, current.headers = status, headers
	return store([]byte(answer))
}

func httpStatusCode() uint32 { return uint32(current.status) }

func httpHeaders() uint64 { return store([]byte(current.headers)) }
