package engine

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
)

// Options says how an Engine works. The zero value is usable.
type Options struct {
	// CacheDir is where compiled code is kept between processes. It is created if it is not there. Empty means that
	// nothing is kept. A folder that others can write to, or that is not ours, is not used: what lies there is run.
	CacheDir string
	// Logger gets what concerns the host and not the guest. Nil discards it.
	Logger *slog.Logger
	// Workers is how many modules may be compiled at once, and how many goroutines compile each. 0 means GOMAXPROCS.
	Workers int
	// Memory is what all instances of all modules may hold together, in bytes. 0 means 1 GiB, Unlimited no limit. An
	// instance at rest counts with what it does not share. What those of a module share, the state that every call begins
	// with, is not counted: once for each module, it is at most Limits.Memory.
	Memory int64
	// CloseOnContextDone has the runtime end guests that run too long, in place of the meter that is otherwise compiled
	// into them: a fallback for a module that the meter should turn out to break. Guests are 6 to 13 times slower under
	// it, limits on fuel and stack are not held (the runtime has a bound for the stack of its own), and time in functions
	// of the host counts as the guest's.
	CloseOnContextDone bool
}

// DefaultMemory is what all instances of an Engine may hold together where Options.Memory is zero, in bytes.
const DefaultMemory = 1 << 30

// Engine loads modules. It may be used by any number of goroutines.
type Engine struct {
	log     *slog.Logger
	cache   *diskCache
	workers chan struct{}
	memory  ledger
	// closeOnContextDone is Options.CloseOnContextDone.
	closeOnContextDone bool

	mu        sync.Mutex
	closed    bool
	modules   map[*Module]struct{}
	artifacts map[string]*artifact
}

// New returns an Engine. Nothing is read or written before the first Load.
func New(options Options) *Engine {
	log := options.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	workers := options.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	kind := ""
	if options.CloseOnContextDone {
		kind = "-unmetered"
	}
	return &Engine{
		log: log, cache: newDiskCache(options.CacheDir, kind, log), workers: make(chan struct{}, workers),
		memory: ledger{limit: or(options.Memory, DefaultMemory)}, closeOnContextDone: options.CloseOnContextDone,
		modules: map[*Module]struct{}{}, artifacts: map[string]*artifact{},
	}
}

// Close closes all modules, each as Module.Close does, at once. Load fails with ErrClosed from then on.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	var modules []*Module
	for m := range e.modules {
		modules = append(modules, m)
	}
	e.mu.Unlock()

	errs := make([]error, len(modules))
	var wg sync.WaitGroup
	for n, m := range modules {
		wg.Go(func() { errs[n] = m.Close(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// MemoryInUse returns what all instances of all modules hold at this moment, in bytes; see Options.Memory.
func (e *Engine) MemoryInUse() int64 { return e.memory.used.Load() }

func (e *Engine) isClosed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closed
}

// add counts a module in, unless the engine is closed.
func (e *Engine) add(m *Module) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.modules[m] = struct{}{}
	return true
}

func (e *Engine) remove(m *Module) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.modules, m)
}

// trim closes the idle instances of all modules, for the memory that they hold.
func (e *Engine) trim() {
	e.mu.Lock()
	var modules []*Module
	for m := range e.modules {
		modules = append(modules, m)
	}
	e.mu.Unlock()
	for _, m := range modules {
		m.pool.Trim()
	}
}
