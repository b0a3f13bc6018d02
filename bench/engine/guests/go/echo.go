package main

import "unsafe"

// The PDK reads and writes JSON and has no plain bytes to offer. So echo calls the host by itself, in the way in which the
// PDK does.

//go:wasmimport extism:host/env alloc
func alloc(length uint64) (offset uint64)

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

//go:wasmexport echo
func echo() int32 {
	length := inputLength()
	if length == 0 {
		return 0
	}
	whole := length &^ 7
	input := make([]byte, length)
	for i := uint64(0); i < whole; i += 8 {
		*(*uint64)(unsafe.Pointer(&input[i])) = inputLoadU64(i)
	}
	for i := whole; i < length; i++ {
		input[i] = byte(inputLoadU8(i))
	}
	offset := alloc(length)
	for i := uint64(0); i < whole; i += 8 {
		storeU64(offset+i, *(*uint64)(unsafe.Pointer(&input[i])))
	}
	for i := whole; i < length; i++ {
		storeU8(offset+i, uint32(input[i]))
	}
	outputSet(offset, length)
	return 0
}
