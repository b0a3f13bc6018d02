package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/weft-run/weft/host/wasm/engine"
)

// errCode is what a guest's own failure is.
var errCode = errors.New("the guest failed")

// raised are the limits for what is larger than a plugin's input and output should be. All else is measured with the
// defaults.
var raised = engine.Limits{Memory: 256 << 20, Input: 16 << 20, Output: 16 << 20}

func openClean(ctx context.Context, g guest) (session, error) {
	return openWeft(ctx, g, engine.Options{}, engine.Spec{})
}

func openShared(ctx context.Context, g guest) (session, error) {
	return openWeft(ctx, g, engine.Options{}, engine.Spec{Shared: true})
}

// weftSession is a module in an engine of its own.
type weftSession struct {
	engine *engine.Engine
	module *engine.Module
}

func openWeft(ctx context.Context, g guest, options engine.Options, spec engine.Spec) (*weftSession, error) {
	e := engine.New(options)
	spec.Name = g.name
	m, err := e.Load(ctx, g.wasm, spec)
	if err != nil {
		return nil, errors.Join(err, e.Close(ctx))
	}
	return &weftSession{e, m}, nil
}

func (s *weftSession) call(ctx context.Context, export string, input []byte) ([]byte, error) {
	result, err := s.module.Call(ctx, engine.Call{Export: export, Input: input})
	if err == nil && result.Code != 0 {
		err = fmt.Errorf("%w: code %d: %s", errCode, result.Code, result.Error)
	}
	return result.Output, err
}

func (s *weftSession) close(ctx context.Context) error { return s.engine.Close(ctx) }
