package main

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestProgress makes sure that a plugin which loads at once is not told about, and that the others are.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &screen{}
		p := &progress{w: out}
		fast, slow := p.loading("fast.wasm"), p.loading("slow\x1b.wasm")
		time.Sleep(patience / 2)
		fast()
		server := p.starting("files")
		time.Sleep(2 * patience)
		slow()
		server()
		assert.Equal(t, "weft: loading slow\\x1b.wasm; the first time, it is compiled\nweft: waiting for the tool server files\n", out.String())
	})
}
