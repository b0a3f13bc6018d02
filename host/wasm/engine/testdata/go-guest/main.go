//go:build wasip1

// Command guest is a plugin as people write them: standard Go, and the imports of extism:host/env.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
)

//go:wasmimport extism:host/env input_length
func inputLength() uint64

//go:wasmimport extism:host/env input_load_u8
func inputLoadU8(at uint64) uint32

//go:wasmimport extism:host/env input_load_u64
func inputLoadU64(at uint64) uint64

//go:wasmimport extism:host/env alloc
func alloc(n uint64) uint64

//go:wasmimport extism:host/env store_u8
func storeU8(at uint64, b uint32)

//go:wasmimport extism:host/env output_set
func outputSet(at, n uint64)

func input() []byte {
	n := inputLength()
	b := make([]byte, n)
	at := uint64(0)
	for ; at+8 <= n; at += 8 {
		v := inputLoadU64(at)
		for k := range uint64(8) {
			b[at+k] = byte(v >> (8 * k))
		}
	}
	for ; at < n; at++ {
		b[at] = byte(inputLoadU8(at))
	}
	return b
}

func output(text string) {
	at := alloc(uint64(len(text)))
	for k := range len(text) {
		storeU8(at+uint64(k), uint32(text[k]))
	}
	outputSet(at, uint64(len(text)))
}

var (
	calls int
	index map[string]int
)

//go:wasmexport init_index
func initIndex() int32 {
	index = map[string]int{}
	for n := range 100_000 {
		index[fmt.Sprint("key ", n)] = n
	}
	return 0
}

//go:wasmexport look_up
func lookUp() int32 { return int32(index[string(input())]) }

//go:wasmexport nothing
func nothing() int32 { return 0 }

//go:wasmexport counts
func counts() int32 {
	calls++
	return int32(calls)
}

//go:wasmexport before_run
func beforeRun() int32 {
	var in struct {
		Messages []struct{ Text string }
	}
	if err := json.Unmarshal(input(), &in); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	words := 0
	for _, m := range in.Messages {
		words += len(strings.Fields(m.Text))
	}
	out, _ := json.Marshal(map[string]any{"words": words})
	output(string(out))
	return 0
}

//go:wasmexport read_file
func readFile() int32 {
	data, err := os.ReadFile(string(input()))
	if err != nil {
		output("error: " + err.Error())
		return 1
	}
	output(string(data))
	return 0
}

//go:wasmexport write_file
func writeFile() int32 {
	if err := os.WriteFile(string(input()), []byte("x"), 0o600); err != nil {
		output("error: " + err.Error())
		return 1
	}
	return 0
}

var kept []*os.File

//go:wasmexport opens_and_keeps
func opensAndKeeps() int32 {
	f, err := os.Open(string(input()))
	if err != nil {
		return 1
	}
	kept = append(kept, f)
	return int32(len(kept))
}

//go:wasmexport clock
func clock() int32 {
	from := time.Now()
	time.Sleep(time.Millisecond)
	if time.Since(from) < time.Millisecond {
		return 1
	}
	output(from.UTC().Format(time.RFC3339) + " " + fmt.Sprint(len(os.Args), len(os.Environ())))
	return 0
}

//go:wasmexport panics
func panics() int32 { panic("no such thing") }

//go:wasmexport exhausts
func exhausts() int32 {
	var all [][]byte
	for {
		all = append(all, make([]byte, 1<<20))
	}
}

//go:wasmexport recurses
func recurses() int32 { return deeper(0) }

func deeper(n int32) int32 { return deeper(n+1) + 1 }

func main() {}
