//go:build wasip1

// Command guest is a plugin as people write them: standard Go, and the imports of extism:host/env.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
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

// changeFiles does what its input says, a step a line: an operation, a path, and what more it takes.
//
//go:wasmexport change_files
func changeFiles() int32 {
	for line := range strings.SplitSeq(string(input()), "\n") {
		step := strings.Fields(line)
		if err := changeFile(step[0], step[1], step[2:]); err != nil {
			output(line + ": " + err.Error())
			return 1
		}
	}
	return 0
}

func changeFile(operation, path string, rest []string) error {
	switch operation {
	case "write":
		return os.WriteFile(path, []byte(rest[0]), 0o600)
	case "append", "at", "cut", "grow":
		flag := os.O_RDWR
		if operation == "append" {
			flag = os.O_WRONLY | os.O_APPEND | os.O_CREATE
		}
		f, err := os.OpenFile(path, flag, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		switch operation {
		case "append":
			_, err = f.WriteString(rest[0])
		case "at":
			n, _ := strconv.ParseInt(rest[0], 10, 64)
			_, err = f.WriteAt([]byte(rest[1]), n)
		default:
			n, _ := strconv.ParseInt(rest[0], 10, 64)
			err = f.Truncate(n)
		}
		return errors.Join(err, f.Sync())
	case "new":
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		return f.Close()
	case "mkdir":
		return os.MkdirAll(path, 0o700)
	case "rename":
		return os.Rename(path, rest[0])
	case "remove":
		return os.Remove(path)
	case "remove_all":
		return os.RemoveAll(path)
	case "symlink":
		return os.Symlink(rest[0], path)
	case "link":
		return os.Link(rest[0], path)
	case "list":
		entries, err := os.ReadDir(path)
		if err != nil {
			return err
		}
		names := []string{}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if have := strings.Join(names, ","); have != rest[0] {
			return errors.New(have)
		}
		return nil
	case "floods":
		for n := 0; ; n++ {
			if err := os.WriteFile(fmt.Sprint(path, "/", n), nil, 0o600); err != nil {
				return err
			}
		}
	case "fills":
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		defer f.Close()
		for block := make([]byte, 1<<16); ; {
			if _, err := f.Write(block); err != nil {
				return err
			}
		}
	}
	return errors.New("no such operation")
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
