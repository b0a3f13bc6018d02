package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/host/wasm/engine/pool"
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
	// in each call. A module that changes its tables, or has vectors or references in globals, has state that belongs to one
	// instance: Init runs on each. One that drops segments of itself has an instance for each call.
	Init *Init
	// Shared leaves an instance as a call left it, memory, globals and vars, for the next call. Which instance a call gets
	// is not defined.
	Shared bool
	// Warm is how many idle instances are kept ready, made ahead. 0 means that they are made when they are needed.
	Warm int
	// World is what the guest can learn about the world outside: clocks, random bytes, environment. See also Call.World.
	World World
	// HTTP sends the requests that the guest makes. Nil means that it may make none.
	HTTP HTTPClient
	// Functions are those of extism:host/user. A module that imports one that is not here does not load.
	Functions map[string]Function
	// Log gets what the guest logs during Init.
	Log func(level, text string)
	// Background has the module compiled by one goroutine, so that others keep the other processors.
	Background bool
	// Resting is told, on the goroutine of the call, when the module is rested and when the rest is over; see Limits.Faults.
	Resting func(resting bool)
}

// Init is the function that prepares a module: () -> i32, where 0 means that all is well. It reads Input.
type Init struct {
	Export string
	Input  []byte
}

// Module is a module that is loaded and can be called. It may be used by any number of goroutines.
type Module struct {
	engine   *Engine
	name     string
	spec     Spec
	info     *Info
	limits   Limits
	artifact *artifact
	mounts   []mount
	pool     *pool.Pool[*instance]
	breaker  breaker
	// beginning is what every call begins with. It is nil until Load is past the first instance.
	beginning atomic.Pointer[beginning]
	// fixed is what each instance takes beside its memory, in bytes.
	fixed int64

	teardown sync.Once
}

// Load checks a module, compiles it, makes an instance and runs its init. The bytes are not kept.
//
// A module that is at fault gives a *LoadError with all that is wrong. One that fails while it starts gives a
// *LimitError, *TrapError or *ExitError. ctx bounds the whole, compiling excepted: that cannot be interrupted, and is
// bounded by the limits on size instead.
func (e *Engine) Load(ctx context.Context, wasm []byte, spec Spec) (*Module, error) {
	spec.Name = or(spec.Name, "module")
	spec.World = spec.World.orReal()
	if e.isClosed() {
		return nil, fmt.Errorf("%s: engine %w", spec.Name, ErrClosed)
	}
	c, err := check(spec.Name, wasm, &spec)
	mounts, faults := openMounts(spec.Mounts)
	if err := withFaults(spec.Name, err, faults); err != nil {
		closeMounts(mounts)
		return nil, err
	}
	c.background = spec.Background
	m := &Module{
		engine: e, name: spec.Name, spec: spec, info: c.info, limits: c.limits, mounts: mounts, fixed: c.fixedCost(),
		breaker: breaker{faults: c.limits.Faults, rest: c.limits.Rest, told: spec.Resting},
	}
	m.pool = pool.New(m.make, pool.Options{
		Most: m.limits.Instances, Queue: m.limits.Queue, IdleTime: max(0, m.limits.Idle),
	})
	err = e.compile(ctx, m, wasm, c)
	if err == nil {
		err = m.prepare(ctx, !c.shadowed && !c.spent)
	}
	if err == nil && !e.add(m) {
		err = fmt.Errorf("%s: engine %w", spec.Name, ErrClosed)
	}
	if err != nil {
		_ = m.Close(context.WithoutCancel(ctx)) // Nothing is under way that could keep it.
		return nil, err
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
	lease, err := m.borrow(ctx)
	if err != nil {
		return err
	}
	i := lease.Value()
	b := &beginning{}
	if m.spec.Init != nil {
		b.inits = []initCall{{*m.spec.Init, m.spec.Log}}
	}
	if err := m.initialize(ctx, i, b); err != nil {
		lease.Discard(pool.Faulty)
		return err
	}
	if restorable {
		if b.state, err = i.snapshot(); err == nil {
			err = i.memory.Adopt(b.state.image)
		}
	} else {
		err = m.keepOwn(i)
	}
	m.beginning.Store(b)
	if err != nil {
		lease.Discard(pool.Faulty)
		return err
	}
	i.beginning = b
	m.pool.Warm(m.spec.Warm)
	// The instance is in the state that every call begins with.
	if i.settle() {
		i.rest()
		lease.Put()
	} else {
		lease.Discard(pool.Spent)
	}
	return nil
}

// initialize runs what prepares the module on a fresh instance.
func (m *Module) initialize(ctx context.Context, i *instance, b *beginning) error {
	for _, c := range b.inits {
		if err := m.checkInput(c.Export, c.Input); err != nil {
			return err
		}
		result, err := i.run(ctx, &Call{Export: c.Export, Input: c.Input, Log: c.log}, m.initBounds())
		if err != nil {
			return err
		}
		if result.Code != 0 {
			have := fmt.Sprintf("returned code %d", result.Code)
			if result.Error != "" {
				have += " (" + printable(result.Error) + ")"
			}
			return &LoadError{Name: m.name, Faults: []Fault{{
				What: c.Export, Have: have, Want: "code 0", Remedy: "mend what it reports, or its config",
			}}}
		}
	}
	return nil
}

// make makes an instance with the state that every call begins with.
func (m *Module) make(ctx context.Context) (*instance, error) {
	for {
		b := m.beginning.Load()
		i, err := m.makeFrom(ctx, b)
		if b == m.beginning.Load() {
			return i, err
		}
		if err == nil {
			i.Close() // It was being made ahead when Module.Init was called.
		}
	}
}

func (m *Module) makeFrom(ctx context.Context, b *beginning) (*instance, error) {
	i, err := newInstance(ctx, m, b)
	if errors.Is(err, ErrBusy) && !pool.Ahead(ctx) {
		// The memory of the engine is used up, perhaps by instances that nobody needs right now.
		m.engine.trim()
		i, err = newInstance(ctx, m, b)
	}
	if err != nil {
		return nil, err
	}
	if b != nil && b.state == nil {
		// Its state cannot be shared, and so each instance has an init of its own.
		err := m.initialize(ctx, i, b)
		if err == nil {
			err = m.keepOwn(i)
		}
		if err != nil {
			i.Close()
			return nil, err
		}
		i.forget()
	}
	return i, nil
}

// keepOwn has an instance keep its state for itself, where that is of use.
func (m *Module) keepOwn(i *instance) error {
	if !m.artifact.shadowed || m.spec.Shared {
		return nil
	}
	return i.keepOwn()
}

// giveBack returns an instance after a call, clean, or closes it.
func (m *Module) giveBack(lease pool.Lease[*instance], good bool) {
	i := lease.Value()
	switch {
	case !good:
		lease.Discard(pool.Faulty)
	case !i.clean():
		lease.Discard(pool.Spent)
	default:
		i.rest()
		lease.Put()
	}
}

// Info says what the module is.
func (m *Module) Info() *Info { return m.info }

// Stats says what the instances of the module do at this moment.
func (m *Module) Stats() Stats { return statsOf(m.pool.Stats(), m.breaker.resting()) }

// Trim closes the instances that no call uses, and returns how many they were. The next call makes one, from the state that
// every call begins with.
func (m *Module) Trim() int { return m.pool.Trim() }

// Call runs an exported function on an instance that no other call uses.
//
// The guest did what it did where the error is nil; whether it calls that a success is in Result.Code and Result.Error.
// Otherwise the error is one of *LimitError (errors.Is: ErrTimeout, ErrFuel, ErrStackLimit, ErrMemoryLimit, ErrVarsLimit,
// ErrInputTooLarge, ErrOutputTooLarge, ErrHTTPLimit, ErrFileLimit, ErrDepth, ErrBusy, ErrResting), *TrapError (ErrTrap), *ExitError
// (ErrExit), *ExportError (ErrNoExport), ErrClosed, that of a function of the host, or ctx.Err() where it is the caller who
// ended the call. Where another instance had to be started for it, what Load returns for a start that fails. The instance
// of a call that failed is closed.
//
// A host function or Call.Log must not call the module under a lock that another call holds: the call may wait for an
// instance.
func (m *Module) Call(ctx context.Context, call Call) (Result, error) {
	if !m.info.Callable(call.Export) {
		return Result{}, m.exportError(call.Export)
	}
	if err := m.checkInput(call.Export, call.Input); err != nil {
		return Result{}, err
	}
	admitted := m.breaker.enter()
	if !admitted.ok {
		rest := ""
		if admitted.left > 0 {
			rest = max(admitted.left.Round(time.Second), time.Second).String()
		}
		return Result{}, m.limitError("faults", "", count(m.limits.Faults), rest, "limits.faults")
	}
	blame := errPanicked
	defer func() { m.breaker.leave(admitted, blame) }()
	result, foreign, err := m.call(ctx, &call)
	if blame = err; foreign {
		blame = errForeign
	}
	return result, err
}

func (m *Module) checkInput(export string, input []byte) error {
	if !exceeds(int64(len(input)), m.limits.Input) {
		return nil
	}
	return m.limitError("input", export, size(m.limits.Input), size(int64(len(input))), "limits.input")
}

// exportError says that an export cannot be called.
func (m *Module) exportError(export string) *ExportError {
	err := &ExportError{Name: m.name, Export: export}
	if e, ok := m.info.Export(export); ok {
		err.Have = describe(e)
	}
	return err
}

// errPanicked stands for a call that did not return because Call.Log panicked, errForeign for the error of a function of
// Spec.Functions: that may be a fault of another module.
var (
	errPanicked = errors.New("the host's code panicked")
	errForeign  = errors.New("a function of the host failed")
)

// call makes a call that may be made. Foreign says that a function of Spec.Functions ended it with an error.
func (m *Module) call(ctx context.Context, call *Call) (result Result, foreign bool, err error) {
	lease, err := m.borrow(ctx)
	if err != nil {
		return Result{}, false, err
	}
	good := false
	defer func() { m.giveBack(lease, good) }() // Also where Call.Log panics.
	i := lease.Value()
	result, err = i.run(ctx, call, m.bounds(call))
	result.Usage.Instance = instanceReused
	if lease.New() {
		result.Usage.Instance = instanceNew
	}
	result.Usage.Queued = lease.Waited()
	good = err == nil
	return result, err != nil && i.foreign, err
}

// borrow returns an instance with the state that every call begins with.
func (m *Module) borrow(ctx context.Context) (pool.Lease[*instance], error) {
	nested := nestingOf(ctx)
	if exceeds(nested.depth, m.limits.Depth) {
		return pool.Lease[*instance]{}, m.limitError("depth", "", count(m.limits.Depth), count(nested.depth), "limits.depth")
	}
	lease, err := m.pool.Get(ctx, nested.hold)
	for err == nil && lease.Value().beginning != m.beginning.Load() {
		lease.Discard(pool.Spent) // It was made, or being made, before Module.Init.
		lease, err = m.pool.Get(ctx, nested.hold)
	}
	var busy *pool.BusyError
	switch {
	case errors.As(err, &busy):
		waiting := count(busy.Waiting)
		if busy.Why == pool.WouldBlock {
			waiting = ""
		}
		return lease, m.limitError("instances", "", count(busy.Most), waiting, "limits.instances")
	case errors.Is(err, pool.ErrClosed):
		return lease, fmt.Errorf("%s: %w", m.name, ErrClosed)
	case err != nil:
		return lease, err
	}
	i := lease.Value()
	i.hold = lease.Hold()
	if i.wake() {
		return lease, nil
	}
	m.engine.trim()
	if i.wake() {
		return lease, nil
	}
	err = i.noHostMemory(i.resting)
	lease.Discard(pool.Spent)
	return lease, err
}

// Close waits for the calls in flight, or for ctx, and frees what the module holds. Calls that wait for an instance, and
// later ones, fail with ErrClosed. Where ctx is over first, the calls in flight are ended with ErrClosed too, the rest is
// freed when the last of them has returned, and Close returns ctx.Err(). Close may be called again.
func (m *Module) Close(ctx context.Context) error {
	if err := m.pool.Close(ctx); err != nil {
		go func() {
			<-m.pool.Drained()
			m.free()
		}()
		return err
	}
	m.free()
	return nil
}

// free frees what the module holds beside its instances, which are closed.
func (m *Module) free() {
	m.teardown.Do(func() {
		m.engine.remove(m)
		if b := m.beginning.Load(); b != nil && b.state != nil {
			_ = b.state.image.Close() // It was only read.
		}
		if m.artifact != nil {
			m.engine.release(m.artifact)
		}
		closeMounts(m.mounts)
	})
}
