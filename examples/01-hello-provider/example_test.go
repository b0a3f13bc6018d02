// Package hello holds the test of the example: what its README says is done, and what it prints is compared.
package hello

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The README's commands, in a copy of the folder's layout, print what the README says.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	source, err := os.ReadFile("plugin/main.go")
	require.NoError(t, err)
	_, code, _ := strings.Cut(string(readme), "```go\n")
	code, _, _ = strings.Cut(code, "```")
	require.Contains(t, string(source), code, "the README shows the code that is there")
	_, shown, ok := strings.Cut(string(readme), "$ weft run -m \"When does the office open?\"\n")
	require.True(t, ok)
	shown, _, _ = strings.Cut(shown, "```")

	dir := t.TempDir()
	config, err := os.ReadFile("weft.yaml")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "weft.yaml"), config, 0o600))
	build := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-trimpath", "-o", filepath.Join(dir, "hello.wasm"), ".")
	build.Dir = "plugin"
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	run(t, build)

	weft := filepath.Join(dir, "weft")
	run(t, exec.Command("go", "build", "-o", weft, "../../cmd/weft"))
	ask := exec.Command(weft, "run", "--no-cache", "-m", "When does the office open?")
	ask.Dir = dir
	require.Equal(t, shown, run(t, ask))
}

func run(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	return string(out)
}
