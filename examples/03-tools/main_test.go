package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The program prints what its README says.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, shown, ok := strings.Cut(string(readme), "$ go run ./examples/03-tools\n")
	require.True(t, ok)
	shown, _, _ = strings.Cut(shown, "```")
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out))
	require.Equal(t, shown, out.String())
}
