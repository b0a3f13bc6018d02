package engine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/weft-run/weft/host/wasm/engine/kernel"
	"github.com/weft-run/weft/host/wasm/engine/metering"
)

// artifact is the compiled code of one module, with the kernel and the functions of the host that it imports, shared by
// all that load the same bytes while one of them is open.
type artifact struct {
	digest string
	refs   int
	// turn is held by whoever compiles. The others wait, and then find the code made.
	turn chan struct{}

	// What follows is set once the code is made.
	cache            wazero.CompilationCache
	runtime          wazero.Runtime
	compiled, kernel wazero.CompiledModule
	// globals are the names under which the mutable globals are exported, fuel and stack those of the meter, which are
	// empty in a module that is not metered.
	globals     []string
	fuel, stack string
	// shadowed says that the module has shadows of its tables; see shadow.go.
	shadowed bool
}

func (a *artifact) metered() bool { return a.fuel != "" }

// slow is when a compilation is worth a line in the log.
const slow = 5 * time.Second

// artifact returns the artifact for a digest. It must be released.
func (e *Engine) artifact(digest string) *artifact {
	e.mu.Lock()
	defer e.mu.Unlock()
	a, ok := e.artifacts[digest]
	if !ok {
		a = &artifact{digest: digest, turn: make(chan struct{}, 1)}
		e.artifacts[digest] = a
	}
	a.refs++
	return a
}

func (e *Engine) release(a *artifact) {
	e.mu.Lock()
	a.refs--
	last := a.refs == 0
	if last {
		delete(e.artifacts, a.digest)
	}
	e.mu.Unlock()
	if last && a.runtime != nil {
		// All instances are closed, and host modules have nothing open that could fail.
		_ = a.runtime.Close(context.Background())
		_ = a.cache.Close(context.Background())
	}
}

// compile gives the module its artifact. What it did is undone by Module.free.
func (e *Engine) compile(ctx context.Context, m *Module, wasm []byte, c *checked) error {
	m.artifact = e.artifact(c.info.SHA256)
	select {
	case m.artifact.turn <- struct{}{}:
		defer func() { <-m.artifact.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if m.artifact.runtime != nil {
		return nil
	}
	select {
	case e.workers <- struct{}{}:
		defer func() { <-e.workers }()
	case <-ctx.Done():
		return ctx.Err()
	}
	began := time.Now()
	if err := e.make(ctx, m, wasm, c); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &LoadError{Name: m.name, Faults: []Fault{{
			What: "invalid module", Have: quote(err.Error()),
			Remedy: "build it again, with a toolchain for wasm32 and no proposals beyond WebAssembly 2.0",
		}}}
	}
	if took := time.Since(began); took > slow {
		e.log.Warn("module compiled slowly", "plugin", m.name, "took", took, "size", len(wasm))
	}
	return nil
}

// make makes the artifact, with the cache on disk where it can be had, and without it where that fails. A compiler that
// panics on a module nobody foresaw is an error like any other.
func (e *Engine) make(ctx context.Context, m *Module, wasm []byte, c *checked) (err error) {
	a := m.artifact
	defer func() {
		if p := recover(); p != nil {
			e.log.Error("compiler panicked", "plugin", m.name, "panic", p, "stack", string(debug.Stack()))
			err = errors.New("the compiler failed on it")
		}
	}()
	settled.Do(settleWazero)
	found := e.cache.look(a.digest)
	made, err := e.instrument(wasm, c)
	if err != nil {
		return err
	}
	if entry := e.cache.entry(a.digest, found); entry != nil {
		cache, err := wazero.NewCompilationCacheWithDir(entry.dir)
		if err == nil {
			if err = e.link(ctx, a, cache, made, c); err == nil {
				entry.keep()
				return nil
			}
		}
		entry.drop()
		if !isFileError(err) {
			return err
		}
		e.log.Warn("compile cache not usable, compiling without", "plugin", m.name, "error", err)
	}
	return e.link(ctx, a, wazero.NewCompilationCache(), made, c)
}

// settled guards settleWazero, once in a process.
var settled sync.Once

// settleWazero has wazero find out its own version before two modules are compiled at the same time: it keeps that in a
// variable of the process, which the first who asks writes without a lock.
func settleWazero() { _ = wazero.NewRuntime(context.Background()).Close(context.Background()) }

// link fills the artifact in: a runtime with the functions of the host that the module imports, and the compiled code.
// The cache is closed where that fails.
func (e *Engine) link(ctx context.Context, a *artifact, cache wazero.CompilationCache, made instrumented, c *checked) error {
	config := wazero.NewRuntimeConfig().
		WithCoreFeatures(coreFeatures).
		WithCloseOnContextDone(e.closeOnContextDone).
		WithDebugInfoEnabled(false).
		WithCompilationCache(cache)
	r := wazero.NewRuntimeWithConfig(ctx, config)
	linked := false
	defer func() {
		if !linked {
			_ = r.Close(ctx)
			_ = cache.Close(ctx)
		}
	}()
	if err := e.instantiateHostModules(ctx, r, c); err != nil {
		return err
	}
	workers := cap(e.workers)
	if c.background {
		workers = 1
	}
	ctx = experimental.WithCompilationWorkers(ctx, workers)
	env, err := r.CompileModule(ctx, kernel.Module())
	if err != nil {
		return err
	}
	compiled, err := r.CompileModule(ctx, made.wasm)
	if err != nil {
		return err
	}
	a.cache, a.runtime, a.compiled, a.kernel = cache, r, compiled, env
	a.globals, a.fuel, a.stack, a.shadowed = made.globals, made.fuel, made.stack, made.shadowed
	linked = true
	return nil
}

func (e *Engine) instantiateHostModules(ctx context.Context, r wazero.Runtime, c *checked) error {
	if err := instantiateMeter(ctx, r); err != nil {
		return err
	}
	if err := instantiateHost(ctx, r, c.user, e.log); err != nil || !c.wasi {
		return err
	}
	return instantiateWASI(ctx, r)
}

// coreFeatures is the WebAssembly that is accepted.
const coreFeatures = api.CoreFeaturesV2 | experimental.CoreFeaturesTailCall | experimental.CoreFeaturesExtendedConst

// instrumented is a module as it is compiled.
type instrumented struct {
	wasm        []byte
	globals     []string
	fuel, stack string
	shadowed    bool
}

// isFileError says whether an error comes from the file system and not from the module.
func isFileError(err error) bool {
	var path *fs.PathError
	var link *os.LinkError
	var number syscall.Errno
	return errors.As(err, &path) || errors.As(err, &link) || errors.As(err, &number)
}

// instrument compiles the meter into a module, or prepares it for the runtime's own way to end it.
func (e *Engine) instrument(wasm []byte, c *checked) (instrumented, error) {
	shadowed := c.shadowed && !c.spent
	if shadowed {
		var err error
		if wasm, c, err = c.withShadows(); err != nil {
			return instrumented{}, err
		}
	}
	if e.closeOnContextDone {
		out, globals := rewrite(wasm, c)
		return instrumented{wasm: out, globals: globals, shadowed: shadowed}, nil
	}
	metered, err := metering.Instrument(c.Module, c.code)
	if err != nil {
		return instrumented{}, err
	}
	return instrumented{
		wasm: metered.Wasm, globals: metered.Globals, fuel: metering.Fuel, stack: metering.Stack, shadowed: shadowed,
	}, nil
}
