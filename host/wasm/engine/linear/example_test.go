package linear_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/weft-run/weft/host/wasm/engine/linear"
)

// counter is a module with a memory of 1 to 4 pages and two functions: count adds one to a number at 8 and returns it,
// grow asks for one more page.
var counter = []byte("\x00asm\x01\x00\x00\x00" +
	"\x01\x05\x01\x60\x00\x01\x7f" + // a type: () -> i32
	"\x03\x03\x02\x00\x00" + // two functions of that type
	"\x05\x04\x01\x01\x01\x04" + // a memory
	"\x07\x19\x03\x06memory\x02\x00\x05count\x00\x00\x04grow\x00\x01" +
	"\x0a\x1d\x02\x14\x00\x41\x08\x41\x08\x28\x02\x00\x41\x01\x6a\x36\x02\x00\x41\x08\x28\x02\x00\x0b" +
	"\x06\x00\x41\x01\x40\x00\x0b")

// instantiate returns an instance of the module and its memory.
func instantiate(ctx context.Context, r wazero.Runtime) (api.Module, *linear.Memory, error) {
	const page = 64 << 10
	memory := linear.New(4*page, nil)
	if !memory.Prepay(page) {
		return nil, nil, fmt.Errorf("no memory for an instance: %d bytes wanted", page)
	}
	ctx = experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(
		func(uint64, uint64) experimental.LinearMemory { return memory }))
	instance, err := r.InstantiateWithConfig(ctx, counter, wazero.NewModuleConfig().WithName(""))
	return instance, memory, err
}

func Example() {
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)

	first, memory, err := instantiate(ctx, r)
	if err != nil {
		log.Fatal(err)
	}
	defer memory.Release()
	count := func(instance api.Module) uint64 {
		result, err := instance.ExportedFunction("count").Call(ctx)
		if err != nil {
			log.Fatal(err)
		}
		return result[0]
	}
	fmt.Println("the start of the guest counts:", count(first), count(first))
	image, err := linear.Capture(memory)
	if err != nil {
		log.Fatal(err)
	}
	defer image.Close()

	second, another, err := instantiate(ctx, r)
	if err != nil {
		log.Fatal(err)
	}
	defer another.Release()
	if err := another.Adopt(image); err != nil {
		log.Fatal(err)
	}
	for range 2 {
		fmt.Println("a call counts:", count(second), count(second))
		fmt.Println("restored:", another.Restore())
	}
	// Output:
	// the start of the guest counts: 1 2
	// a call counts: 3 4
	// restored: true
	// a call counts: 3 4
	// restored: true
}

func ExampleMemory_Restore() {
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	instance, memory, err := instantiate(ctx, r)
	if err != nil {
		log.Fatal(err)
	}
	defer memory.Release()
	image, err := linear.Capture(memory)
	if err != nil {
		log.Fatal(err)
	}
	defer image.Close()
	if err := memory.Adopt(image); err != nil {
		log.Fatal(err)
	}
	if _, err := instance.ExportedFunction("grow").Call(ctx); err != nil {
		log.Fatal(err)
	}
	// No guest can be told that its memory is smaller now, so the instance must go.
	fmt.Println(len(memory.Bytes()), image.Size(), memory.Restore())
	// Output:
	// 131072 65536 false
}
