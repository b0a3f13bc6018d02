// Package hotloading holds the test of the example: its session is run, and what it prints is compared with the README.
package hotloading

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheSessionIsWhatTheReadmeShows(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the session is a shell script")
	}
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, shown, ok := strings.Cut(string(readme), "```console\n$ ./session ../../bin/weft\n")
	require.True(t, ok)
	shown, _, ok = strings.Cut(shown, "```")
	require.True(t, ok)

	weft := filepath.Join(t.TempDir(), "weft")
	run(t, exec.Command("go", "build", "-o", weft, "../../cmd/weft"))
	require.Equal(t, shown, run(t, exec.Command("./session", weft)))
}

func run(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	return string(out)
}
