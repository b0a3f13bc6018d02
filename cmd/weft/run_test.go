package main

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-run/weft/host/wasm"
)

func TestAReloadIsToldInOneLine(t *testing.T) {
	var b bytes.Buffer
	tellReload(&b, wasm.Reloaded{SourceID: "clock", To: wasm.Identity{Version: "2\x1b[2J", Digest: "0123456789abcdef"}})
	assert.Equal(t, "weft: plugin clock was reloaded: 2\\x1b[2J 0123456789ab\n", b.String())
	b.Reset()
	tellReload(&b, wasm.Reloaded{SourceID: "clock", Err: errors.New("no hook")})
	assert.Empty(t, b.String(), "the log has it")
}
