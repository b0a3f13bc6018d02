package engine

import (
	"context"
	"slices"

	"github.com/weft-run/weft/host/wasm/engine/pool"
)

// Check looks at a module as Load does before it compiles anything. A module that is at fault gives a *LoadError with
// all that is wrong.
func (e *Engine) Check(wasm []byte, spec Spec) error {
	spec.Name = or(spec.Name, "module")
	_, err := check(spec.Name, wasm, &spec)
	return err
}

// beginning is what every call of a module begins with. Nothing changes it: Module.Init makes another one.
type beginning struct {
	// state is what all instances share. It is nil for a module of which each instance keeps a state of its own, or serves
	// one call.
	state *snapshot
	// inits are what prepared the module, in their order, for instances that cannot share a state.
	inits []initCall
}

// initCall is an init, and who gets what the guest logs in it.
type initCall struct {
	Init
	log func(level, text string)
}

// Init runs the function that prepares a module, for callers that must ask the module something before they know what
// to give it; it is Spec.Init, later, and comes on top of that. What it leaves in memory and globals, every call from then
// on finds. It must have returned before other goroutines use the module.
//
// Errors are those of Call; the limit on time is Limits.Init. Where Result.Code is not 0, nothing was kept.
func (m *Module) Init(ctx context.Context, init Init, log func(level, text string)) (Result, error) {
	if !m.info.Callable(init.Export) {
		return Result{}, m.exportError(init.Export)
	}
	if err := m.checkInput(init.Export, init.Input); err != nil {
		return Result{}, err
	}
	lease, err := m.borrow(ctx)
	if err != nil {
		return Result{}, err
	}
	i := lease.Value()
	result, err := i.run(ctx, &Call{Export: init.Export, Input: init.Input, Log: log}, m.initBounds())
	if err != nil || result.Code != 0 {
		lease.Discard(pool.Faulty)
		return result, err
	}
	before := m.beginning.Load()
	after := &beginning{inits: append(slices.Clip(before.inits), initCall{init, log})}
	if before.state != nil {
		if after.state, err = i.snapshot(); err != nil {
			lease.Discard(pool.Faulty)
			return result, err
		}
		_ = before.state.image.Close() // It was only read.
	}
	m.beginning.Store(after)
	m.pool.Trim() // They begin with the state that was before.
	if m.spec.Shared {
		i.beginning = after
		m.giveBack(lease, true)
	} else {
		lease.Discard(pool.Spent)
	}
	m.pool.Warm(m.spec.Warm)
	return result, nil
}

// Limits are the limits in force, defaults included.
func (m *Module) Limits() Limits { return m.limits }
