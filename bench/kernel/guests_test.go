package kernel_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	extism "github.com/extism/go-sdk"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine"
)

// TestGuestsOfExtism runs guests that the SDK brings, as Extism built them with its PDKs for C, Rust and Go (TinyGo), with
// the SDK and with the engine. Both must give the same.
func TestGuestsOfExtism(t *testing.T) {
	folder := filepath.Join(sdk(t), "wasm")
	config := map[string]string{"thing": "hello"}
	for _, c := range []struct{ guest, pdk, export, input string }{
		{"alloc", "C", "run_test", ""},
		{"hello", "C", "run_test", "x"},
		{"fail", "C", "run_test", "x"},
		{"config", "TinyGo", "run_test", ""},
		{"var", "TinyGo", "run_test", ""},
		{"log", "TinyGo", "run_test", ""},
		{"noop", "TinyGo", "run_test", ""},
		{"println", "TinyGo", "run_test", ""},
		{"replace", "TinyGo", "run_test", "all that is replaced"},
		{"count_vowels", "Rust", "count_vowels", strings.Repeat("Hello, 世界! ", 1000)},
		{"input_offset", "text", "input_offset_length", "hello world"},
	} {
		t.Run(c.guest+" in "+c.pdk, func(t *testing.T) {
			wasm, err := os.ReadFile(filepath.Join(folder, c.guest+".wasm"))
			require.NoError(t, err)

			manifest := extism.Manifest{Wasm: []extism.Wasm{extism.WasmData{Data: wasm}}, Config: config}
			plugin, err := extism.NewPlugin(t.Context(), manifest, extism.PluginConfig{EnableWasi: true}, nil)
			require.NoError(t, err)
			defer plugin.Close(context.Background())
			code, output, fault := plugin.Call(c.export, []byte(c.input))
			text := ""
			if fault != nil {
				text = fault.Error()
			}

			e := engine.New(engine.Options{})
			defer e.Close(context.Background())
			m, err := e.Load(t.Context(), wasm, engine.Spec{Name: c.guest, Config: config})
			require.NoError(t, err)
			for range 2 {
				result, err := m.Call(t.Context(), engine.Call{Export: c.export, Input: []byte(c.input)})
				require.NoError(t, err)
				require.Equal(t, int32(code), result.Code)
				require.Equal(t, string(output), string(result.Output))
				require.Equal(t, text, result.Error)
			}
		})
	}
}

// sdk returns the folder of the SDK.
func sdk(t *testing.T) string {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/extism/go-sdk").Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(dir))
}
