package wasm

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/schema"
)

func TestTheSchemaOfAToolIsReadOnce(t *testing.T) {
	var s toolSchemas
	text := []byte(`{"type":"object","required":["key"]}`)
	first, err := s.of(text, defaultToolSchema)
	require.NoError(t, err)
	require.ErrorIs(t, first.Validate([]byte(`{}`)), schema.ErrInvalid)
	again, err := s.of(append([]byte(nil), text...), defaultToolSchema)
	require.NoError(t, err)
	require.Same(t, first, again)

	other, err := s.of([]byte(`{"type":"object"}`), defaultToolSchema)
	require.NoError(t, err)
	require.NoError(t, other.Validate([]byte(`{}`)))
}

func TestASchemaThatIsRefusedIsRefusedEachTime(t *testing.T) {
	var s toolSchemas
	for range 2 {
		_, err := s.of([]byte(`{"$ref":"#"}`), defaultToolSchema)
		require.ErrorContains(t, err, `uses "$ref"`)
		_, err = s.of([]byte(`{"type":"object"}`), 4)
		var size *SizeError
		require.ErrorAs(t, err, &size)
		_, err = s.of([]byte(`{"type":"nothing"}`), defaultToolSchema)
		require.ErrorIs(t, err, schema.ErrSchema)
	}
	require.Empty(t, s.known)
}

// A plugin may write another schema in each run.
func TestSchemasAreKeptUpToABound(t *testing.T) {
	var s toolSchemas
	var wg sync.WaitGroup
	for n := range 100 {
		wg.Go(func() {
			text := fmt.Sprintf(`{"description":"%d %s"}`, n, strings.Repeat("x", defaultToolSchema/2))
			_, err := s.of([]byte(text), defaultToolSchema)
			require.NoError(t, err)
		})
	}
	wg.Wait()
	kept := 0
	for text := range s.known {
		kept += len(text)
	}
	require.NotZero(t, kept)
	require.Equal(t, s.size, kept)
	require.LessOrEqual(t, kept, schemasKept)
}
