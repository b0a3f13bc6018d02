//go:build unix

package engine_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// makePipe makes a named pipe, where the system has such things, and says whether it did. To open one blocks until
// somebody writes to it.
func makePipe(t *testing.T, path string) bool {
	t.Helper()
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	return true
}
