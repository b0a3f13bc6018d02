package engine

import (
	"context"

	"github.com/weft-run/weft/host/wasm/engine/pool"
)

// Check looks at a module as Load does before it compiles anything. A module that is at fault gives a *LoadError with
// all that is wrong.
func (e *Engine) Check(wasm []byte, spec Spec) error {
	spec.Name = or(spec.Name, "module")
	_, err := check(spec.Name, wasm, &spec)
	return err
}

// Init runs the function that prepares a module, for callers that must ask the module something before they know what
// to give it; it is Spec.Init, later. What it leaves in memory and globals, every call from then on finds. It must have
// returned before other goroutines use the module.
//
// Errors are those of Call; the limit on time is Limits.Init. Where Result.Code is not 0, nothing was kept.
func (m *Module) Init(ctx context.Context, init Init, log func(level, text string)) (Result, error) {
	if !m.info.Callable(init.Export) {
		return Result{}, &ExportError{Name: m.name, Export: init.Export}
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
	m.spec.Init, m.spec.Log = &init, log
	if m.state != nil {
		before := m.state
		state, err := i.snapshot()
		if err != nil {
			lease.Discard(pool.Faulty)
			return result, err
		}
		m.state = state
		if err := before.image.Close(); err != nil {
			return result, err
		}
	}
	m.pool.Trim() // They begin with the state that was before.
	if m.spec.Shared {
		m.giveBack(lease, true)
	} else {
		lease.Discard(pool.Spent)
	}
	return result, nil
}

// Limits are the limits in force, defaults included.
func (m *Module) Limits() Limits { return m.limits }
