package abi_test

import (
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/abi"
)

// Every transcript of a whole call meets the schema, fits the types, and is taken by the decoder.
func TestTranscriptsMeetTheContract(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	seen := map[abi.Hook]bool{}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			require.NoError(t, err)
			require.Len(t, archive.Files, 2)
			in, out := archive.Files[0].Data, archive.Files[1].Data
			require.NoError(t, validate(t, "In", in))
			require.NoError(t, validate(t, "Out", out))
			var call abi.In
			require.NoError(t, json.Unmarshal(in, &call, json.RejectUnknownMembers(true)))
			_, err = abi.DecodeOut(call.Hook, call.Layer, out)
			require.NoError(t, err)
			seen[call.Hook] = true
		})
	}
	for _, h := range abi.Hooks {
		require.True(t, seen[h] || h == abi.HookDescribe, "no transcript of %s", h)
	}
}
