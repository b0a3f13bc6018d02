package main

import (
	"context"
	"errors"
	"fmt"

	extism "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero"
)

const sdkModule = "github.com/extism/go-sdk"

func openSDK(ctx context.Context, g guest) (session, error) { return openExtism(ctx, g, 0) }

// openSDKTimeout opens a plugin whose calls are ended when they run too long, which the manifest asks for.
func openSDKTimeout(ctx context.Context, g guest) (session, error) {
	return openExtism(ctx, g, uint64(budget.Milliseconds()))
}

// sdkSession is one instance of a plugin under Extism's SDK for Go. It is used again for each call, with whatever state
// the call before left in it, as Weft's shared modules are.
type sdkSession struct {
	compiled *extism.CompiledPlugin
	plugin   *extism.Plugin
}

func openExtism(ctx context.Context, g guest, timeout uint64) (session, error) {
	manifest := extism.Manifest{Wasm: []extism.Wasm{extism.WasmData{Data: g.wasm}}, Timeout: timeout}
	compiled, err := extism.NewCompiledPlugin(ctx, manifest, extism.PluginConfig{EnableWasi: true}, nil)
	if err != nil {
		return nil, err
	}
	// Under the default clock, which counts its readings, Go guests stop to collect their garbage.
	config := extism.PluginInstanceConfig{ModuleConfig: wazero.NewModuleConfig().WithSysNanotime()}
	plugin, err := compiled.Instance(ctx, config)
	if err != nil {
		return nil, errors.Join(err, compiled.Close(ctx))
	}
	return &sdkSession{compiled, plugin}, nil
}

func (s *sdkSession) call(ctx context.Context, export string, input []byte) ([]byte, error) {
	code, output, err := s.plugin.CallWithContext(ctx, export, input)
	if err == nil && code != 0 {
		err = fmt.Errorf("%w: code %d", errCode, code)
	}
	return output, err
}

func (s *sdkSession) close(ctx context.Context) error {
	return errors.Join(s.plugin.Close(ctx), s.compiled.Close(ctx))
}
