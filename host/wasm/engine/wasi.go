package engine

import (
	"context"
	"crypto/rand"
	"runtime"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"
)

// instantiateWASI makes the functions of wasi_snapshot_preview1 available in a runtime. They are the runtime's own, each
// with a guard in front of it.
func instantiateWASI(ctx context.Context, r wazero.Runtime) error {
	ctx = experimental.WithFunctionListenerFactory(ctx, wasiGuard{})
	_, err := wasi_snapshot_preview1.Instantiate(ctx, r)
	return err
}

// started is where the monotonic clock of all guests begins. One beginning for all: what a snapshot holds may be put
// into another instance, and its clock must not go back.
var started = time.Now()

// moduleConfig is what the runtime is told about one instance. There are no arguments, no environment and no input; the
// clocks are real ones. The runtime's own default for the monotonic clock is a counter, under which Go guests stop
// collecting their garbage.
func (i *instance) moduleConfig(startFunctions ...string) wazero.ModuleConfig {
	now := i.module.spec.Now
	config := wazero.NewModuleConfig().
		WithName("").
		WithStartFunctions(startFunctions...).
		WithStdout(&i.printed).
		WithStderr(&i.printed).
		WithRandSource(rand.Reader).
		WithWalltime(func() (int64, int32) {
			t := now()
			return t.Unix(), int32(t.Nanosecond())
		}, sys.ClockResolution(time.Microsecond)).
		WithNanotime(func() int64 { return int64(time.Since(started)) }, 1).
		WithNanosleep(i.sleep).
		WithOsyield(runtime.Gosched)
	if len(i.module.mounts) > 0 {
		fs := wazero.NewFSConfig()
		for _, m := range i.module.mounts {
			fs = fs.WithFSMount(&mountFS{root: m.root, files: &i.files}, m.guest)
		}
		config = config.WithFSConfig(fs)
	}
	return config
}

// sleep is the guest's. It counts as the guest's time, and ends with it.
func (i *instance) sleep(nanoseconds int64) {
	if nanoseconds <= 0 {
		return
	}
	timer := time.NewTimer(time.Duration(nanoseconds))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-i.done:
		panic(errEnded)
	}
}

// wasiGuard stands in front of the functions of WASI. It stops a guest that is over its time, and takes note of what a
// guest does to its file descriptors: they are part of an instance that no snapshot holds.
type wasiGuard struct{}

var (
	_ experimental.FunctionListenerFactory = wasiGuard{}
	_ experimental.FunctionListener        = wasiGuard{}
)

// NewFunctionListener implements the same method as documented on experimental.FunctionListenerFactory.
func (g wasiGuard) NewFunctionListener(api.FunctionDefinition) experimental.FunctionListener {
	return g
}

// Before implements the same method as documented on experimental.FunctionListener.
func (wasiGuard) Before(ctx context.Context, _ api.Module, def api.FunctionDefinition, params []uint64, _ experimental.StackIterator) {
	i := instanceOf(ctx)
	if err := i.ended(); err != nil {
		panic(err)
	}
	switch def.Name() {
	case "fd_close":
		if uint32(params[0]) <= i.lastPreopen() {
			i.altered = true
		} else {
			i.opened--
		}
	case "fd_readdir", "fd_fdstat_set_flags":
		// Of a descriptor that the guest opened, the state goes with it. One that was there from the start keeps its own.
		if uint32(params[0]) <= i.lastPreopen() {
			i.altered = true
		}
	case "fd_renumber", "sock_accept":
		i.altered = true
	}
}

// After implements the same method as documented on experimental.FunctionListener.
func (wasiGuard) After(ctx context.Context, _ api.Module, def api.FunctionDefinition, results []uint64) {
	if def.Name() == "path_open" && len(results) > 0 && uint32(results[0]) == 0 {
		instanceOf(ctx).opened++
	}
}

// Abort implements the same method as documented on experimental.FunctionListener.
func (wasiGuard) Abort(context.Context, api.Module, api.FunctionDefinition, error) {}
