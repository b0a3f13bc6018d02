package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/weft-run/weft/conformance"
	"github.com/weft-run/weft/host/wasm/engine"
)

// guest is what all tests with plugins share: it is built and compiled once, because under the race detector that takes
// longer than all scenarios together.
var guest struct {
	once    sync.Once
	dir     string
	module  []byte
	engine  *engine.Engine
	keep    []func(context.Context) error // what keeps plugins open
	failure error
}

// withPlugins are options to play with plugins. The guest is built with the Go toolchain that runs the test.
func withPlugins(t testing.TB) conformance.Options {
	t.Helper()
	guest.once.Do(func() { guest.failure = makeGuest(context.Background()) })
	if guest.failure != nil {
		t.Fatal(guest.failure)
	}
	return conformance.Options{Wasm: true, Guest: guest.module, Engine: guest.engine}
}

func makeGuest(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "scenarios-")
	if err != nil {
		return err
	}
	guest.dir = dir
	if err := noteSources(filepath.Join("guests", "script"), filepath.Join("..", "pdk", "go")); err != nil {
		return err
	}
	out := filepath.Join(dir, "script.wasm")
	if err := buildGuest(ctx, "script", out); err != nil {
		return err
	}
	if guest.module, err = os.ReadFile(out); err != nil {
		return err
	}
	guest.engine = engine.New(engine.Options{})
	// The engine keeps the compiled code of a module for as long as a plugin of it is open, and wrapping providers are played
	// with another one.
	s, err := conformance.Load(filepath.Join("scenarios", "context-process-order.json"))
	if err != nil {
		return err
	}
	for _, sourceID := range []string{"a", "w"} {
		closer, err := conformance.LoadPlugin(ctx, s, sourceID, conformance.Options{Wasm: true, Guest: guest.module, Engine: guest.engine})
		guest.keep = append(guest.keep, closer)
		if err != nil {
			return err
		}
	}
	return nil
}

// buildGuest builds a folder of guests as a module.
func buildGuest(ctx context.Context, folder, out string) error {
	build := exec.CommandContext(ctx, "go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-trimpath", "-o", out, ".")
	build.Dir = filepath.Join("guests", folder)
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the guest %s: %w\n%s", folder, err, text)
	}
	return nil
}

// noteSources looks at the guest's sources, so that go test runs the tests anew where one of them changed.
func noteSources(dirs ...string) error {
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err == nil {
				_, err = os.Stat(path)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// closeGuest frees what the tests shared.
func closeGuest(ctx context.Context) error {
	var all []error
	for _, closer := range guest.keep {
		all = append(all, closer(ctx))
	}
	if guest.engine != nil {
		all = append(all, guest.engine.Close(ctx))
	}
	if guest.dir != "" {
		all = append(all, os.RemoveAll(guest.dir))
	}
	return errors.Join(all...)
}
