package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
)

// Spec says what a module is called and what it may do.
type Spec struct {
	// Name stands in errors and logs. Empty means "module".
	Name string
	// Limits bounds the module. Zero fields have defaults; see DefaultLimits.
	Limits Limits
	// Mounts are the folders that the guest may read.
	Mounts []Mount
	// Config is what config_get answers from. It is not to be changed afterwards.
	Config map[string]string
	// Init, where it is not nil, is called once, before Load returns. What it leaves in memory and globals, every call
	// finds; that is also the place to fill caches, for those that a call fills are gone after it. Files that it opened
	// are not open later. A generator of random numbers that it (or the start of the module) seeds gives the same numbers
	// in each call. A module that changes its tables has state that cannot be put back: it gets an instance of its own
	// for each call, and Init runs on each.
	Init *Init
	// Shared leaves an instance as a call left it, memory, globals and vars, for the next call. Which instance a call gets
	// is not defined.
	Shared bool
	// Now is the wall clock of the guest. Nil means time.Now. It may be called by many goroutines at once.
	Now func() time.Time
	// Log gets what the guest logs during Init; see Call.Log.
	Log func(level, text string)
}

// Init is the function that prepares a module: () -> i32, where 0 means that all is well.
type Init struct {
	Export string
	// Input is what the function reads as its input.
	Input []byte
}

// Module is a module that is loaded and can be called. It may be used by any number of goroutines.
type Module struct {
	engine   *Engine
	name     string
	spec     Spec
	info     *Info
	limits   Limits
	artifact *artifact
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	mounts   []mount
	globals  []string // the names under which the mutable globals are exported
	pool     *pool
	// state is what every call begins with. It is nil for a module with state that cannot be put back: an instance of it
	// serves one call.
	state *snapshot

	closing  sync.Once
	teardown sync.Once
}

// Load checks a module, compiles it, makes an instance and runs its init. The bytes are not kept.
//
// A module that is at fault gives a *LoadError with all that is wrong. One that fails while it starts gives a
// *LimitError, *TrapError or *ExitError. ctx bounds the whole, compiling excepted: that cannot be interrupted, and is
// bounded by the limits on size instead.
func (e *Engine) Load(ctx context.Context, wasm []byte, spec Spec) (*Module, error) {
	spec.Name = or(spec.Name, "module")
	if spec.Now == nil {
		spec.Now = time.Now
	}
	if e.isClosed() {
		return nil, fmt.Errorf("%s: engine %w", spec.Name, ErrClosed)
	}
	c, err := check(spec.Name, wasm, &spec)
	mounts, faults := openMounts(spec.Mounts)
	if err := withFaults(spec.Name, err, faults); err != nil {
		closeMounts(mounts)
		return nil, err
	}
	m := &Module{
		engine: e, name: spec.Name, spec: spec, info: c.info, limits: c.limits, mounts: mounts, pool: newPool(c.limits),
	}
	rewritten, globals := rewrite(wasm, c)
	m.globals = globals
	if err := e.compile(ctx, m, rewritten, c); err != nil {
		m.free()
		return nil, err
	}
	if err := m.prepare(ctx, !c.hidden); err != nil {
		m.pool.close()
		m.free()
		return nil, err
	}
	if !e.add(m) {
		m.pool.close()
		m.free()
		return nil, fmt.Errorf("%s: engine %w", spec.Name, ErrClosed)
	}
	return m, nil
}

// withFaults adds faults to err, which is nil or a *LoadError.
func withFaults(name string, err error, faults []Fault) error {
	var load *LoadError
	switch {
	case len(faults) == 0:
		return err
	case errors.As(err, &load):
		load.Faults = append(load.Faults, faults...)
		return load
	default:
		return &LoadError{Name: name, Faults: faults}
	}
}

// prepare makes the first instance, runs init on it, and keeps what it is like then.
func (m *Module) prepare(ctx context.Context, restorable bool) error {
	i, err := m.pool.get(ctx)
	if err == nil && i == nil {
		i, err = m.make(ctx)
	}
	if err != nil {
		return err
	}
	if err := m.init(ctx, i); err != nil {
		m.pool.discard(i)
		return err
	}
	if restorable {
		m.state = takeSnapshot(i.memory.buf, i.globals)
	}
	if i.settle() {
		m.pool.put(i) // It is in the state that every call begins with.
	} else {
		m.pool.discard(i)
	}
	return nil
}

// init runs the init of the module on a fresh instance.
func (m *Module) init(ctx context.Context, i *instance) error {
	if m.spec.Init == nil {
		return nil
	}
	result, err := i.run(ctx, Call{
		Export: m.spec.Init.Export, Input: m.spec.Init.Input, Timeout: m.limits.Init, Log: m.spec.Log,
	}, "init", "limits.init")
	if err != nil {
		return err
	}
	if result.Code != 0 {
		have := fmt.Sprintf("returned code %d", result.Code)
		if result.Error != "" {
			have += " (" + printable(result.Error) + ")"
		}
		return &LoadError{Name: m.name, Faults: []Fault{{
			What: m.spec.Init.Export, Have: have, Want: "code 0", Remedy: "mend what it reports, or its config",
		}}}
	}
	return nil
}

// make makes an instance, for which the pool gave the right.
func (m *Module) make(ctx context.Context) (*instance, error) {
	i, err := newInstance(ctx, m, m.state)
	if errors.Is(err, ErrBusy) {
		// The memory of the engine is used up, perhaps by instances that nobody needs right now.
		m.engine.trim()
		i, err = newInstance(ctx, m, m.state)
	}
	if err != nil {
		m.pool.abandoned()
		return nil, err
	}
	m.pool.made(i)
	return i, nil
}

// giveBack returns an instance after a call, clean, or closes it.
func (m *Module) giveBack(i *instance, good bool) {
	if good && i.clean() {
		m.pool.put(i)
		return
	}
	m.pool.discard(i)
}

// Info says what the module is.
func (m *Module) Info() *Info { return m.info }

// Stats says what the instances of the module do at this moment.
func (m *Module) Stats() Stats { return m.pool.report() }

// Call runs an exported function on an instance that no other call uses.
//
// The guest did what it did where the error is nil; whether it calls that a success is in Result.Code and Result.Error.
// Otherwise the error is one of *LimitError (errors.Is: ErrTimeout, ErrMemoryLimit, ErrOutputTooLarge, ErrInputTooLarge,
// ErrBusy), *TrapError (ErrTrap), *ExitError (ErrExit), *ExportError (ErrNoExport), ErrClosed, or ctx.Err() where it is
// the caller who ended the call. The instance of a call that failed is closed.
//
// A host function or Call.Log must not call the module under a lock that another call holds: the call may wait for an
// instance.
func (m *Module) Call(ctx context.Context, call Call) (Result, error) {
	if !m.info.Callable(call.Export) {
		err := &ExportError{Name: m.name, Export: call.Export}
		if e, ok := m.info.Export(call.Export); ok {
			err.Have = describe(e)
		}
		return Result{}, err
	}
	if exceeds(int64(len(call.Input)), m.limits.Input) {
		return Result{}, m.limitError("input", call.Export, size(m.limits.Input), size(int64(len(call.Input))), "limits.input")
	}
	i, reused, err := m.borrow(ctx)
	if err != nil {
		return Result{}, err
	}
	good := false
	defer func() { m.giveBack(i, good) }() // Also where Call.Log panics.
	result, err := i.run(ctx, call, "time", or(call.TimeoutOption, "limits.time"))
	result.Usage.Instance = instanceNew
	if reused {
		result.Usage.Instance = instanceReused
	}
	good = err == nil
	return result, err
}

// borrow returns an instance with the state that every call begins with.
func (m *Module) borrow(ctx context.Context) (i *instance, reused bool, err error) {
	i, err = m.pool.get(ctx)
	switch {
	case errors.Is(err, ErrBusy):
		return nil, false, m.limitError("instances", "", count(m.limits.Instances), count(m.limits.Queue), "limits.instances")
	case errors.Is(err, ErrClosed):
		return nil, false, fmt.Errorf("%s: %w", m.name, ErrClosed)
	case err != nil:
		return nil, false, err
	case i != nil:
		return i, true, nil
	}
	if i, err = m.make(ctx); err != nil {
		return nil, false, err
	}
	if m.state == nil {
		// Init could not be kept for this module, and so each instance has its own.
		if err := m.init(ctx, i); err != nil {
			m.pool.discard(i)
			return nil, false, err
		}
	}
	return i, false, nil
}

// Close waits for the calls in flight, or for ctx, and frees what the module holds. Calls that wait for an instance, and
// later ones, fail with ErrClosed. Where ctx is over first, the calls in flight are ended with ErrClosed too, the rest is
// freed when the last of them has returned, and Close returns ctx.Err(). Close may be called again.
func (m *Module) Close(ctx context.Context) error {
	m.closing.Do(m.pool.close)
	select {
	case <-m.pool.drained:
		m.free()
		return nil
	default:
	}
	select {
	case <-m.pool.drained:
		m.free()
		return nil
	case <-ctx.Done():
	}
	m.pool.interrupt(fmt.Errorf("%s: %w", m.name, ErrClosed))
	go func() {
		<-m.pool.drained
		m.free()
	}()
	return ctx.Err()
}

// free frees what the module holds beside its instances.
func (m *Module) free() {
	m.teardown.Do(func() {
		m.engine.remove(m)
		// All instances are closed, and closing host modules does not fail.
		ctx := context.Background()
		if m.compiled != nil && m.compiled != m.artifact.first {
			_ = m.compiled.Close(ctx)
		}
		if m.runtime != nil {
			_ = m.runtime.Close(ctx)
		}
		if m.artifact != nil {
			m.engine.release(m.artifact)
		}
		closeMounts(m.mounts)
	})
}
