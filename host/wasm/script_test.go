package wasm_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/internal/wat"
)

// script is a guest as data: what each of its exports does.
type script map[string][]step

// step is one thing that an export does: it calls a host function, or Extism's http_request, with JSON and logs what that
// returned, or, without a function, sets its output. "next" is short for call_next.
type step struct{ function, json string }

func out(json string) step  { return step{json: json} }
func next(json string) step { return step{"call_next", json} }

// hears logs what the export received.
func hears() step { return step{function: "input"} }

// module assembles a script.
func (s script) module(t testing.TB) []byte {
	t.Helper()
	var imports, data, code strings.Builder
	imported := map[string]bool{}
	at := 16
	exports := make([]string, 0, len(s))
	for name := range s {
		exports = append(exports, name)
	}
	slices.Sort(exports)
	for _, export := range exports {
		fmt.Fprintf(&code, "  (func (export %q) (result i32)\n", export)
		for _, st := range s[export] {
			if st.function == "input" {
				code.WriteString("    (call $log_info (call $heard))\n")
				continue
			}
			fmt.Fprintf(&data, "  (data (i32.const %d) \"", at)
			for _, b := range []byte(st.json) {
				fmt.Fprintf(&data, "\\%02x", b)
			}
			data.WriteString("\")\n")
			where := fmt.Sprintf("(call $block (i32.const %d) (i32.const %d))", at, len(st.json))
			at += len(st.json) + 8
			if st.function == "" {
				fmt.Fprintf(&code, "    (call $output_set %s (i64.const %d))\n", where, len(st.json))
				continue
			}
			if st.function == "http_request" {
				if !imported[st.function] {
					imports.WriteString("  (import \"extism:host/env\" \"http_request\" (func $http_request (param i64 i64) (result i64)))\n")
				}
				imported[st.function] = true
				fmt.Fprintf(&code, "    (call $log_info (call $http_request %s (i64.const 0)))\n", where)
				continue
			}
			if !imported[st.function] {
				imported[st.function] = true
				fmt.Fprintf(&imports, "  (import \"extism:host/user\" %q (func $%s (param i64) (result i64)))\n", st.function, st.function)
			}
			fmt.Fprintf(&code, "    (call $log_info (call $%s %s))\n", st.function, where)
		}
		code.WriteString("    (i32.const 0))\n")
	}
	text := fmt.Sprintf(`(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "log_info" (func $log_info (param i64)))
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (import "extism:host/env" "input_load_u8" (func $input_load_u8 (param i64) (result i32)))
%s  (memory (export "memory") 4)
%s  (func $heard (result i64)
    (local $at i64) (local $n i64)
    (local.set $at (call $alloc (call $input_length)))
    (block $done
      (loop $copy
        (br_if $done (i64.eq (local.get $n) (call $input_length)))
        (call $store_u8 (i64.add (local.get $at) (local.get $n)) (call $input_load_u8 (local.get $n)))
        (local.set $n (i64.add (local.get $n) (i64.const 1)))
        (br $copy)))
    (local.get $at))
  (func $block (param $from i32) (param $length i32) (result i64)
    (local $at i64) (local $n i32)
    (local.set $at (call $alloc (i64.extend_i32_u (local.get $length))))
    (block $done
      (loop $copy
        (br_if $done (i32.eq (local.get $n) (local.get $length)))
        (call $store_u8 (i64.add (local.get $at) (i64.extend_i32_u (local.get $n))) (i32.load8_u (i32.add (local.get $from) (local.get $n))))
        (local.set $n (i32.add (local.get $n) (i32.const 1)))
        (br $copy)))
    (local.get $at))
%s)`, &imports, &data, &code)
	path := filepath.Join(t.TempDir(), "script.wat")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return wat.Assemble(t, path)
}

// answers collects what a guest logged.
type answers struct {
	mu    sync.Mutex
	lines []string
}

func (a *answers) log(_, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lines = append(a.lines, text)
}

// all are the lines so far.
func (a *answers) all() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.lines)
}

// load loads a script as the plugin "p".
func (s script) load(t testing.TB, c wasm.Config) (*wasm.Plugin, *answers) {
	t.Helper()
	p, a, err := s.tryLoad(t, c)
	require.NoError(t, err)
	return p, a
}

func (s script) tryLoad(t testing.TB, c wasm.Config) (*wasm.Plugin, *answers, error) {
	t.Helper()
	a := &answers{}
	c.Module, c.OnLog = s.module(t), a.log
	if c.SourceID == "" {
		c.SourceID = "p"
	}
	p, err := wasm.Load(t.Context(), newEngine(t), c)
	if err == nil {
		t.Cleanup(func() { require.NoError(t, p.Close(context.Background())) })
	}
	return p, a, err
}
