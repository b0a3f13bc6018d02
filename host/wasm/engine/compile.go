package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// artifact is the compiled code of one module, shared by all that load the same bytes while one of them is open.
type artifact struct {
	digest string
	refs   int
	// turn is held by whoever compiles. The others wait, and then find the code made.
	turn  chan struct{}
	cache wazero.CompilationCache
	// first is what was compiled first. It stays open with the artifact, so that the code stays in memory.
	first wazero.CompiledModule
}

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
	if last && a.cache != nil {
		_ = a.first.Close(context.Background())
		_ = a.cache.Close(context.Background()) // Neither has anything open that could fail.
	}
}

// compile gives the module its runtime and its compiled code. What it did is undone by Module.free.
func (e *Engine) compile(ctx context.Context, m *Module, wasm []byte, c *checked) error {
	digest := sha256.Sum256(wasm)
	m.artifact = e.artifact(hex.EncodeToString(digest[:]))
	select {
	case m.artifact.turn <- struct{}{}:
		defer func() { <-m.artifact.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case e.workers <- struct{}{}:
		defer func() { <-e.workers }()
	case <-ctx.Done():
		return ctx.Err()
	}
	began := time.Now()
	if err := e.compileArtifact(ctx, m, wasm); err != nil {
		return &LoadError{Name: m.name, Faults: []Fault{{
			What: "invalid module", Have: quote(err.Error()),
			Remedy: "build it again, with a toolchain for wasm32 and no proposals beyond WebAssembly 2.0",
		}}}
	}
	if took := time.Since(began); took > slow {
		e.log.Warn("module compiled slowly", "plugin", m.name, "took", took, "size", len(wasm))
	}
	if c.env {
		if err := instantiateEnv(ctx, m.runtime, e.log); err != nil {
			return fmt.Errorf("%s: %s: %w", m.name, moduleEnv, err)
		}
	}
	if c.wasi {
		if err := instantiateWASI(ctx, m.runtime); err != nil {
			return fmt.Errorf("%s: %s: %w", m.name, moduleWASI, err)
		}
	}
	return nil
}

// compileArtifact compiles with the cache on disk, where it can be had, and without it where it fails.
func (e *Engine) compileArtifact(ctx context.Context, m *Module, wasm []byte) error {
	a := m.artifact
	if a.cache != nil {
		return m.compileWith(ctx, a.cache, wasm)
	}
	if entry := e.cache.entry(a.digest); entry != nil {
		cache, err := wazero.NewCompilationCacheWithDir(entry.dir)
		if err == nil {
			if err = m.compileWith(ctx, cache, wasm); err == nil {
				entry.keep()
				a.cache, a.first = cache, m.compiled
				return nil
			}
			_ = cache.Close(ctx)
		}
		entry.drop()
		if !isFileError(err) {
			return err
		}
		e.log.Warn("compile cache not usable, compiling without", "plugin", m.name, "error", err)
	}
	cache := wazero.NewCompilationCache()
	if err := m.compileWith(ctx, cache, wasm); err != nil {
		_ = cache.Close(ctx)
		return err
	}
	a.cache, a.first = cache, m.compiled
	return nil
}

// compileWith compiles the module. A compiler that panics on a module nobody foresaw is an error like any other.
func (m *Module) compileWith(ctx context.Context, cache wazero.CompilationCache, wasm []byte) (err error) {
	config := wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2).
		WithCloseOnContextDone(true).
		WithDebugInfoEnabled(false).
		WithCompilationCache(cache)
	r := wazero.NewRuntimeWithConfig(ctx, config)
	defer func() {
		if p := recover(); p != nil {
			m.engine.log.Error("compiler panicked", "plugin", m.name, "panic", p, "stack", string(debug.Stack()))
			err = errors.New("the compiler failed on it")
		}
		if err != nil {
			_ = r.Close(ctx)
		}
	}()
	compiled, err := r.CompileModule(ctx, wasm)
	if err != nil {
		return err
	}
	m.runtime, m.compiled = r, compiled
	return nil
}

// isFileError says whether an error comes from the file system and not from the module.
func isFileError(err error) bool {
	var path *fs.PathError
	var link *os.LinkError
	var number syscall.Errno
	return errors.As(err, &path) || errors.As(err, &link) || errors.As(err, &number)
}
