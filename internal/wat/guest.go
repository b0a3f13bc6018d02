package wat

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Guest returns a plugin as data: what each of its exports does, one step after the other. A step that is a JSON object
// becomes the output; one such as `kv_get {"scope":"agent","key":"k"}` calls that host function, or Extism's http_request, and
// logs at the level info what it returned. Of the imports, as module and name with a blank between, none is called.
func Guest(t testing.TB, exports map[string][]string, imports ...string) []byte {
	t.Helper()
	g := guest{imported: map[string]bool{}, at: 16}
	for _, name := range append([]string{
		"extism:host/env alloc", "extism:host/env store_u8", "extism:host/env output_set", "extism:host/env log_info",
	}, imports...) {
		module, name, _ := strings.Cut(name, " ")
		g.use(module, name)
	}
	for _, name := range slices.Sorted(maps.Keys(exports)) {
		g.export(name, exports[name])
	}
	path := filepath.Join(t.TempDir(), "guest.wat")
	if err := os.WriteFile(path, []byte("(module\n"+g.imports.String()+guestCode+g.code.String()+")\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return Assemble(t, path)
}

// guest is a module on its way.
type guest struct {
	imports, code strings.Builder
	imported      map[string]bool
	at            int // where the next text stands in memory
}

func (g *guest) use(module, name string) {
	if !g.imported[name] {
		g.imported[name] = true
		fmt.Fprintf(&g.imports, "  (import %q %q (func $%s %s))\n", module, name, name, importType(module, name))
	}
}

func (g *guest) export(name string, steps []string) {
	var body strings.Builder
	for _, step := range steps {
		function, text := "", step
		if !strings.HasPrefix(step, "{") {
			function, text, _ = strings.Cut(step, " ")
			if function == "http_request" {
				g.use("extism:host/env", function)
			} else {
				g.use("extism:host/user", function)
			}
		}
		fmt.Fprintf(&g.code, "  (data (i32.const %d) \"", g.at)
		for _, c := range []byte(text) {
			fmt.Fprintf(&g.code, "\\%02x", c)
		}
		g.code.WriteString("\")\n")
		block := fmt.Sprintf("(call $block (i32.const %d) (i32.const %d))", g.at, len(text))
		g.at += len(text)
		switch function {
		case "":
			fmt.Fprintf(&body, "    (call $output_set %s (i64.const %d))\n", block, len(text))
		case "http_request": // without a body
			fmt.Fprintf(&body, "    (call $log_info (call $http_request %s (i64.const 0)))\n", block)
		default:
			fmt.Fprintf(&body, "    (call $log_info (call $%s %s))\n", function, block)
		}
	}
	fmt.Fprintf(&g.code, "  (func (export %q) (result i32)\n%s    (i32.const 0))\n", name, &body)
}

// importType is the type of a function that the contract knows.
func importType(module, name string) string {
	switch {
	case name == "store_u8":
		return "(param i64 i32)"
	case name == "output_set":
		return "(param i64 i64)"
	case name == "log_info":
		return "(param i64)"
	case name == "http_request":
		return "(param i64 i64) (result i64)"
	case name == "path_open":
		return "(param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)"
	case module == "extism:host/user", name == "alloc":
		return "(param i64) (result i64)"
	}
	return ""
}

// guestCode has $block, which puts a text of memory where the host can read it.
const guestCode = `  (memory (export "memory") 2)
  (func $block (param $from i32) (param $size i32) (result i64)
    (local $to i64) (local $i i32)
    (local.set $to (call $alloc (i64.extend_i32_u (local.get $size))))
    (block $done
      (loop $next
        (br_if $done (i32.eq (local.get $i) (local.get $size)))
        (call $store_u8 (i64.add (local.get $to) (i64.extend_i32_u (local.get $i)))
          (i32.load8_u (i32.add (local.get $from) (local.get $i))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $next)))
    (local.get $to))
`
