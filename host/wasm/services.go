package wasm

import (
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/index"
	"github.com/weft-run/weft/host/kv"
)

// Services are what the host functions of plugins stand on. All are shared by the plugins of a host, and stay the caller's
// to close, after the plugins.
type Services struct {
	// Model answers complete.
	Model host.ChatClient
	// Embedder answers embed.
	Embedder host.Embedder
	// KV keeps what plugins store. Default: memory of the plugin's own, which is gone with it.
	KV kv.Store
	// Indexes are what can be searched, by name.
	Indexes map[string]*index.Index
}
