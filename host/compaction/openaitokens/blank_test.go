package openaitokens_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/compaction/openaitokens"
)

// Anybody may put white space into a conversation. As a whole, what this one takes grows with the square of its length.
func TestLongWhiteSpaceIsCountedInPieces(t *testing.T) {
	for _, e := range openaitokens.Encodings() {
		made := tokenizer(t, e)
		start := time.Now()
		require.Positive(t, made.Count(strings.Repeat("\t \n", 100_000)))
		require.Less(t, time.Since(start), 30*time.Second)

		whole := strings.Repeat(" ", 500) + "end"
		require.Equal(t, 1+made.Count(whole), made.Count("start"+whole), "what is shorter is counted as a whole")
	}
}
