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

//go:wasmimport extism:host/env length
func length(offset uint64) uint64

//go:wasmimport extism:host/env load_u8
func loadU8(offset uint64) uint32

//go:wasmimport extism:host/env load_u64
func loadU64(offset uint64) uint64

//go:wasmimport extism:host/env http_request
func httpRequest(request, body uint64) (offset uint64)

//go:wasmimport extism:host/env http_status_code
func httpStatusCode() uint32

//go:wasmimport extism:host/env http_headers
func httpHeaders() (offset uint64)

// The functions of extism:host/user take the offset of a block with a JSON object and return that of another.

//go:wasmimport extism:host/user call_next
func callNext(input uint64) (output uint64)

//go:wasmimport extism:host/user get_messages
func getMessages(input uint64) (output uint64)

//go:wasmimport extism:host/user kv_get
func kvGet(input uint64) (output uint64)

//go:wasmimport extism:host/user kv_set
func kvSet(input uint64) (output uint64)

//go:wasmimport extism:host/user kv_delete
func kvDelete(input uint64) (output uint64)

//go:wasmimport extism:host/user kv_list
func kvList(input uint64) (output uint64)

//go:wasmimport extism:host/user complete
func complete(input uint64) (output uint64)

//go:wasmimport extism:host/user embed
func embed(input uint64) (output uint64)

//go:wasmimport extism:host/user search
func search(input uint64) (output uint64)

//go:wasmimport extism:host/user index_put
func indexPut(input uint64) (output uint64)

//go:wasmimport extism:host/user index_delete
func indexDelete(input uint64) (output uint64)

//go:wasmimport extism:host/user emit
func emit(input uint64) (output uint64)

//go:wasmimport extism:host/user request
func request(input uint64) (output uint64)

// Call is what tests call hooks with. Compiled for wasip1 there is a host, and nothing to stand in for it.
func Call([]byte, Host, func() int32) (int32, Kept) {
	panic("package pdktest runs natively: use go test without GOOS=wasip1")
}
