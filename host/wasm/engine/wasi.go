package engine

import (
	"context"
	"runtime"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/experimental/sysfs"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"
)

// instantiateWASI makes the functions of wasi_snapshot_preview1 available in a runtime. They are the runtime's own, each
// with a guard in front of it, but for those of the environment: that is the call's and not the instance's.
func instantiateWASI(ctx context.Context, r wazero.Runtime) error {
	builder := r.NewHostModuleBuilder(moduleWASI)
	wasi_snapshot_preview1.NewFunctionExporter().ExportFunctions(builder)
	for name, f := range map[string]api.GoModuleFunc{"environ_get": environGet, "environ_sizes_get": environSizesGet} {
		signature := wasiSignatures[name]
		builder.NewFunctionBuilder().
			WithGoModuleFunction(f, valueTypes(signature.params), valueTypes(signature.results)).
			Export(name)
	}
	ctx = experimental.WithFunctionListenerFactory(ctx, wasiGuard{})
	_, err := builder.Instantiate(ctx)
	return err
}

// environSizesGet and environGet are the functions of that name of WASI.
func environSizesGet(ctx context.Context, guest api.Module, stack []uint64) {
	env := instanceOf(ctx).world.Env
	total := 0
	for _, e := range env {
		total += len(e) + 1
	}
	memory := guest.Memory()
	ok := memory != nil && memory.WriteUint32Le(uint32(stack[0]), uint32(len(env))) &&
		memory.WriteUint32Le(uint32(stack[1]), uint32(total))
	stack[0] = errno(ok)
}

func environGet(ctx context.Context, guest api.Module, stack []uint64) {
	memory := guest.Memory()
	at, text := uint32(stack[0]), uint32(stack[1])
	ok := memory != nil
	for _, e := range instanceOf(ctx).world.Env {
		ok = ok && memory.WriteUint32Le(at, text) && memory.WriteString(text, e) && memory.WriteByte(text+uint32(len(e)), 0)
		at += 4
		text += uint32(len(e)) + 1
	}
	stack[0] = errno(ok)
}

// errno is 0, or where an address lies outside the guest's memory, EFAULT.
func errno(ok bool) uint64 {
	if ok {
		return 0
	}
	return 21
}

// randomSource gives a guest the random bytes of its call.
type randomSource struct{ instance *instance }

func (r randomSource) Read(p []byte) (int, error) {
	r.instance.meter.pay(len(p))
	r.instance.world.Random(p)
	return len(p), nil
}

// moduleConfig is what the runtime is told about one instance. There are no arguments and no input. The rest is the
// world of the call.
func (i *instance) moduleConfig() wazero.ModuleConfig {
	config := wazero.NewModuleConfig().
		WithName("").
		WithStartFunctions().
		WithStdout(&i.printed).
		WithStderr(&i.printed).
		WithRandSource(randomSource{i}).
		WithWalltime(func() (int64, int32) {
			t := i.world.Now()
			return t.Unix(), int32(t.Nanosecond())
		}, sys.ClockResolution(clockStep)).
		WithNanotime(func() int64 { return int64(i.world.Monotonic()) }, sys.ClockResolution(clockStep)).
		WithNanosleep(i.sleep).
		WithOsyield(runtime.Gosched)
	if len(i.module.mounts) > 0 {
		fs := wazero.NewFSConfig()
		for _, m := range i.module.mounts {
			if files := (&mountFS{root: m.root, instance: i}); m.writable {
				fs = fs.(sysfs.FSConfig).WithSysFSMount(newWritableFS(files), m.guest)
			} else {
				fs = fs.WithFSMount(files, m.guest)
			}
		}
		config = config.WithFSConfig(fs)
	}
	return config
}

// sleep is the guest's. It counts as the guest's time, and ends with it. It costs a unit of fuel for each nanosecond, so
// that a budget of fuel bounds it, too.
func (i *instance) sleep(nanoseconds int64) {
	if nanoseconds <= 0 {
		return
	}
	length := time.Duration(nanoseconds)
	if i.meter.metered && i.meter.limit >= 0 { // Without a meter the context ends with the time.
		length = min(length, i.meter.left()+time.Millisecond)
	}
	if left, bounded := i.meter.fuelLeft(); bounded {
		length = min(length, time.Duration(left)+1)
	}
	i.meter.charge(int64(length))
	_ = i.meter.block(i.context.Context, func(ctx context.Context) error {
		timer := time.NewTimer(length)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		return nil
	})
	if fault := i.meter.ended(); fault != nil {
		panic(fault)
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
	if fault := i.meter.ended(); fault != nil {
		panic(fault)
	}
	i.meter.charge(wasiPrice(def.Name(), params))
	switch def.Name() {
	case "fd_close":
		i.closing = uint32(params[0]) > i.lastPreopen()
		i.altered = i.altered || !i.closing
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
	if len(results) == 0 || uint32(results[0]) != 0 {
		return
	}
	switch i := instanceOf(ctx); def.Name() {
	case "path_open":
		i.opened++
	case "fd_close":
		if i.closing {
			i.opened--
		}
	}
}

// Abort implements the same method as documented on experimental.FunctionListener.
func (wasiGuard) Abort(context.Context, api.Module, api.FunctionDefinition, error) {}
