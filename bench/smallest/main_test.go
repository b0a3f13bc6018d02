package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// atMost is how large a program with an agent and a native provider may be, stripped.
const atMost = 4_000_000

func TestAProgramWithAnAgentIsSmall(t *testing.T) {
	program := filepath.Join(t.TempDir(), "smallest")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "-trimpath", "-ldflags=-s -w", ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	info, err := os.Stat(program)
	require.NoError(t, err)
	require.LessOrEqual(t, info.Size(), int64(atMost))
	said, err := exec.CommandContext(t.Context(), program).Output()
	require.NoError(t, err)
	require.Equal(t, "hello\n", string(said))
}
