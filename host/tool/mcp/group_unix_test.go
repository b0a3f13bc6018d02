//go:build linux

package mcp_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/tool/mcp"
)

// A launcher such as npx or a shell starts the server below it: that ends too.
func TestWhatALauncherStartedEndsWithIt(t *testing.T) {
	dir := t.TempDir()
	_, err := mcp.Connect(t.Context(), mcp.Config{SourceID: "s", ConnectTimeout: 300 * time.Millisecond, Command: &mcp.Command{
		Path: "/bin/sh", Args: []string{"-c", `"$0"; true`, os.Args[0]},
		Env: []string{behaviourName + "=stubborn", folderName + "=" + dir}, StopTime: 200 * time.Millisecond,
	}})
	require.Error(t, err)
	started := marks(dir, "pid")
	require.NotEmpty(t, started)
	pid, err := strconv.Atoi(started[0])
	require.NoError(t, err)
	require.Eventually(t, func() bool { // the signal was sent; that it took effect is seen from outside only
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		return err != nil || strings.Contains(string(stat), ") Z ")
	}, 5*time.Second, 5*time.Millisecond, "the server lives on")
}

func TestErrorsDoNotSayTheURL(t *testing.T) {
	for _, url := range []string{"http://127.0.0.1:1/mcp?token=hunter2", "htps://joe:hunter2@host/mcp", "http://joe:hunter2@127.0.0.1:1/"} {
		_, err := mcp.Connect(t.Context(), mcp.Config{SourceID: "s", HTTP: &mcp.HTTP{URL: url}})
		require.Error(t, err)
		require.NotContains(t, err.Error(), "hunter2")
	}
}
