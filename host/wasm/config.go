package wasm

import (
	"log/slog"
	"time"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm/egress"
)

// Config says which plugin is loaded, and what it may do. Either Path or Module is mandatory.
type Config struct {
	// Path is the plugin's file. It is read once; the bytes that were read are what is checked and run.
	Path string
	// Module is the plugin's bytes, in place of Path.
	Module []byte
	// SHA256, where set, is what the bytes must hash to, in hex.
	SHA256 string
	// SourceID names the plugin in its agent. Default: what it describes, else the file's name.
	SourceID string
	// Layer is where the plugin stands: [abi.LayerContext] among the providers, the default, or among the middleware of a
	// layer, which needs no further grant. An empty one with Middleware set is the one layer that the plugin describes.
	Layer abi.Layer
	// Middleware says that the plugin stands among the middleware, at Layer.
	Middleware bool
	// Config is the plugin's own configuration, a JSON object. Default: {}.
	Config []byte
	// Grants are the plugin's rights.
	Grants Grants
	// Secrets are values by name, for headers of HTTP requests (see [abi.HTTPGrant]). The plugin never sees them.
	Secrets map[string]egress.Secret
	// Services are what the host functions stand on. What is missing is an error of load where a grant needs it.
	Services Services
	// Limits bound the plugin; an unset one has its default.
	Limits Limits
	// OnError says what a failing hook means for the run. Default: [host.OnErrorFail].
	OnError host.ErrorPolicy
	// Shared keeps an instance's memory from one call to the next, across sessions. By default every call starts from
	// the memory as it was after init.
	Shared bool
	// Logger gets what the plugin logs, with the attributes plugin and hook. Default: slog.Default().
	Logger *slog.Logger
	// OnLog, where set, gets what the plugin logs in place of Logger.
	OnLog func(level, text string)
	// OnReload, where set, is told when a new version takes over or cannot be used, and OnRest when the plugin is rested
	// because its last calls failed, and when it is not any more. Both are logged in any case. They must be quick.
	OnReload func(Reloaded)
	OnRest   func(sourceID string, resting bool)
	// Now is the plugin's wall clock. Default: time.Now.
	Now func() time.Time
}
