// Package wat turns WebAssembly text into modules for tests, so that fixtures are kept as sources that a person can read.
package wat

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/weft-run/weft/internal/testneed"
)

// Assemble returns the module that the text file at path describes. It needs wat2wasm; see package testneed for what
// happens without it.
func Assemble(t testing.TB, path string) []byte {
	t.Helper()
	tool := testneed.Tool(t, "wat2wasm", "Debian: apt-get install wabt")
	out := filepath.Join(t.TempDir(), filepath.Base(path)+".wasm")
	cmd := exec.Command(tool, "--enable-tail-call", "--output="+out, path)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("wat2wasm %s: %v\n%s", path, err, text)
	}
	module, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return module
}
