package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The program prints what its README says.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, shown, ok := strings.Cut(string(readme), "$ go run . hello.wasm\n")
	require.True(t, ok)
	shown, _, _ = strings.Cut(shown, "```")

	plugin := filepath.Join(t.TempDir(), "hello.wasm")
	build := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-trimpath", "-o", plugin, ".")
	build.Dir = "../01-hello-provider/plugin"
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	text, err := build.CombinedOutput()
	require.NoError(t, err, string(text))

	var out bytes.Buffer
	require.NoError(t, run(t.Context(), plugin, &out))
	require.Equal(t, shown, out.String())
}
