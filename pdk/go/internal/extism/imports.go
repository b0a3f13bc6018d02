//go:build wasip1

package extism

// An offset is an address in memory that the host owns and the guest reaches by these functions only.

//go:wasmimport extism:host/env alloc
func alloc(length uint64) (offset uint64)

//go:wasmimport extism:host/env free
func free(offset uint64)

//go:wasmimport extism:host/env store_u8
func storeU8(offset uint64, value uint32)

//go:wasmimport extism:host/env store_u64
func storeU64(offset uint64, value uint64)

//go:wasmimport extism:host/env input_length
func inputLength() uint64

//go:wasmimport extism:host/env input_load_u8
func inputLoadU8(offset uint64) uint32

//go:wasmimport extism:host/env input_load_u64
func inputLoadU64(offset uint64) uint64

//go:wasmimport extism:host/env output_set
func outputSet(offset, length uint64)

//go:wasmimport extism:host/env error_set
func errorSet(offset uint64)

//go:wasmimport extism:host/env get_log_level
func getLogLevel() int32

//go:wasmimport extism:host/env log_debug
func logDebug(offset uint64)

//go:wasmimport extism:host/env log_info
func logInfo(offset uint64)

//go:wasmimport extism:host/env log_warn
func logWarn(offset uint64)

//go:wasmimport extism:host/env log_error
func logError(offset uint64)

// Call is what tests call hooks with. Compiled for wasip1 there is a host, and nothing to stand in for it.
func Call([]byte, func() int32) (int32, Kept) {
	panic("package pdktest runs natively: use go test without GOOS=wasip1")
}
