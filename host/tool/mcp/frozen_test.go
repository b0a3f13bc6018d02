//go:build unix

package mcp_test

import (
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
)

// TestAProgramThatStoppedReading: arguments that fill the pipe hold neither the call nor Close up.
func TestAProgramThatStoppedReading(t *testing.T) {
	c, folder := program(t, "usual")
	c.CallTimeout, c.Command.StopTime = 200*time.Millisecond, 20*time.Millisecond
	s := connect(t, c)
	echo := toolsOf(t, s)["echo"]
	pid, err := strconv.Atoi(marks(folder, "pid")[0])
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	start := time.Now()
	_, err = echo.Call(t.Context(), jsontext.Value(`{"text":"`+strings.Repeat("a", 1<<20)+`"}`))
	require.ErrorIs(t, err, host.ErrTimeout)
	require.NoError(t, s.Close())
	require.Less(t, time.Since(start), 5*time.Second)
	alive, _ := processes(t, folder)
	require.Zero(t, alive)
}
