package engine

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/weft-run/weft/host/wasm/engine/bytecode"
	"github.com/weft-run/weft/host/wasm/engine/kernel"
	"github.com/weft-run/weft/host/wasm/engine/linear"
	"github.com/weft-run/weft/host/wasm/engine/pool"
)

var _ pool.Resource = (*instance)(nil)

// instance is a module that has been instantiated, with a kernel of its own and what the host keeps for it. One goroutine
// at a time uses it; busy holds whoever would break that.
type instance struct {
	module *Module
	// beginning is what calls of this instance begin with. It is nil for a module's first one, until that is prepared.
	beginning *beginning

	guest   api.Module
	env     api.Module // the kernel, as the guest sees it
	kernel  *kernel.Kernel
	memory  *linear.Memory // the guest's
	shared  *linear.Memory // the kernel's, which the guest shares with the host
	budget  budget
	exports map[string]api.Function
	globals []api.MutableGlobal
	files   openFiles
	busy    atomic.Bool
	meter   meter
	// resting is how much of the memory is not counted while no call uses the instance: the pages that it shares with
	// other instances.
	resting int64
	// own is the state that calls of this instance begin with, where it is not the module's: references belong to one
	// instance. owned is what it takes, in bytes.
	own   *snapshot
	owned int64
	// fixed is what the instance takes beside its memory, once that was taken from the budget.
	fixed int64

	// What follows belongs to the call in flight.
	context  *callContext
	hold     *pool.Hold
	stack    [1]uint64
	export   string
	world    *World
	vars     map[string][]byte
	varsSize int64
	http     exchange
	logs     logs
	printed  printed
	// written is how much the call wrote into folders, in bytes.
	written int64
	// release frees the context of a call that is ended by the runtime, and deadline is why that ends where time is up.
	release  func()
	deadline *deadline
	// foreign says that a function of Spec.Functions ended the call with an error.
	foreign bool
	// late says that the context was over when the guest returned. The runtime may then close the guest a moment later.
	late bool
	// altered says that the guest changed a file descriptor that it did not open; opened is how many it has open, since the
	// instance was made. closing says that it is closing one that it may have opened.
	altered, closing bool
	opened           int
}

// callContext is what the runtime gets as the context of a call. It carries the instance to the host functions, which
// find it at once, and keeps the caller's values from the runtime, which looks for its own ones at each call.
type callContext struct {
	context.Context
	instance *instance
}

// instanceKey is the key of the instance in the context of a call.
type instanceKey struct{}

func (c *callContext) Value(key any) any {
	if key == (instanceKey{}) {
		return c.instance
	}
	return nil
}

func instanceOf(ctx context.Context) *instance {
	if c, ok := ctx.(*callContext); ok {
		return c.instance
	}
	return ctx.Value(instanceKey{}).(*instance)
}

// lastPreopen is the highest file descriptor that an instance has from the start: standard input, output and error, and
// one for each mount.
func (i *instance) lastPreopen() uint32 { return uint32(2 + len(i.module.mounts)) }

// newInstance instantiates the module. Where the beginning has a state, the instance gets that instead of what its own
// start would make of it. Any error has the instance closed.
func newInstance(ctx context.Context, m *Module, b *beginning) (i *instance, err error) {
	i = &instance{module: m, beginning: b, exports: map[string]api.Function{}, world: &m.spec.World}
	i.budget = budget{ledger: &m.engine.memory, limit: m.limits.Memory}
	i.memory = linear.New(m.most(m.info.Memory), &i.budget)
	i.shared = linear.New(m.most(MemoryInfo{}), quietBudget{&i.budget})
	i.meter.metered = m.artifact.metered()
	i.busy.Store(true)
	defer func() {
		i.busy.Store(false)
		if err != nil {
			i.Close()
			i = nil
		}
	}()

	least := int64(m.info.Memory.Pages.Min * PageSize)
	if i.budget.Take(m.fixed) {
		i.fixed = m.fixed
	}
	if i.fixed != m.fixed || !i.memory.Prepay(least) || !i.shared.Prepay(PageSize) {
		if max(i.budget.refused, i.budget.kernel) == byModule {
			return i, i.noMemory("", byModule)
		}
		return i, i.noHostMemory(m.fixed + least + PageSize)
	}
	limits := bounds{time: m.limits.Start, fuel: Unlimited, limit: "start"}
	i.begin(ctx, "start", limits)
	defer i.end()
	if err := i.instantiate(limits); err != nil {
		return i, err
	}
	// What the start left in memory and globals is part of what every call begins with. What it left with the host is not:
	// not all instances have it.
	defer i.forget()
	if b != nil && b.state != nil {
		return i, i.become(b.state)
	}
	if f := i.guest.ExportedFunction("_initialize"); f != nil {
		if err := f.CallWithStack(i.context, nil); err != nil {
			return i, i.classify(err, limits)
		}
	}
	if i.guest.IsClosed() {
		return i, &ExitError{Name: m.name, Export: "start"}
	}
	// How the start left the descriptors that were there is part of what every call begins with. A file that it opened has
	// an offset that calls move, and stays counted.
	i.altered = false
	return i, nil
}

// most is the most that a memory may become, in bytes.
func (m *Module) most(memory MemoryInfo) uint64 {
	most := uint64(1) << 32
	if m.limits.Memory >= 0 {
		most = min(most, uint64(m.limits.Memory))
	}
	if memory.Pages.Max > 0 {
		most = min(most, memory.Pages.Max*PageSize)
	}
	return most
}

// instantiate makes the kernel and the guest.
func (i *instance) instantiate(b bounds) error {
	m := i.module
	with := func(memory *linear.Memory) context.Context {
		return experimental.WithMemoryAllocator(i.context, experimental.MemoryAllocatorFunc(
			func(uint64, uint64) experimental.LinearMemory { return memory }))
	}
	plain := wazero.NewModuleConfig().WithName("").WithStartFunctions()
	var err error
	if i.env, err = m.artifact.runtime.InstantiateModule(with(i.shared), m.artifact.kernel, plain); err != nil {
		return fmt.Errorf("%s: %s: %w", m.name, moduleEnv, err)
	}
	if i.kernel, err = kernel.Bind(i.env); err != nil {
		return fmt.Errorf("%s: %s: %w", m.name, moduleEnv, err)
	}
	ctx := experimental.WithImportResolver(with(i.memory), i.kernel.Resolve)
	if i.guest, err = m.artifact.runtime.InstantiateModule(ctx, m.artifact.compiled, i.moduleConfig()); err != nil {
		return i.classify(err, b)
	}
	if i.guest.IsClosed() {
		return &ExitError{Name: m.name, Export: "start"}
	}
	global := func(name string) (api.MutableGlobal, error) {
		g, ok := i.guest.ExportedGlobal(name).(api.MutableGlobal)
		if !ok {
			return nil, fmt.Errorf("%s: global %s cannot be set", m.name, printable(name))
		}
		return g, nil
	}
	for _, name := range m.artifact.globals {
		g, err := global(name)
		if err != nil {
			return err
		}
		if isNumber(bytecode.ValueType(g.Type())) {
			i.globals = append(i.globals, g)
		}
	}
	if !i.meter.metered {
		return nil
	}
	if i.meter.fuel, err = global(m.artifact.fuel); err != nil {
		return err
	}
	if i.meter.stack, err = global(m.artifact.stack); err != nil {
		return err
	}
	i.meter.fill(m.limits.Stack)
	return nil
}

// begin prepares the instance for a call. end must follow.
func (i *instance) begin(ctx context.Context, export string, b bounds) {
	i.export = export
	i.late, i.foreign = false, false
	i.printed.buf = i.printed.buf[:0]
	i.http = exchange{}
	i.written = 0
	i.budget.refused, i.budget.kernel = 0, 0
	i.release = nil
	if !i.meter.metered {
		var cancel context.CancelCauseFunc
		ctx, cancel = context.WithCancelCause(ctx)
		release := func() {}
		if b.time >= 0 {
			i.deadline = &deadline{}
			ctx, release = context.WithTimeoutCause(ctx, b.time, i.deadline)
		}
		i.release = func() { release(); cancel(nil) }
		i.meter.waiting.Store(&cancel)
	}
	if i.context == nil || !i.meter.metered { // The runtime may look at that of an unmetered call after it.
		i.context = &callContext{instance: i}
	}
	i.context.Context = ctx
	i.meter.begin(ctx.Done(), b.time, b.fuel, i.module.limits.Stack)
}

// end ends what begin began.
func (i *instance) end() {
	if i.release != nil {
		i.late = i.context.Err() != nil
		i.release()
		i.release = nil
		return
	}
	i.context.Context = context.Background() // The caller's context is not kept alive by an idle instance.
}

// Interrupt implements the same method as documented on pool.Resource.
func (i *instance) Interrupt(cause error) { i.meter.interrupt(cause) }

func (i *instance) function(name string) api.Function {
	f, ok := i.exports[name]
	if !ok {
		// Asked for once: the runtime makes a stack for each function that it hands out.
		f = i.guest.ExportedFunction(name)
		i.exports[name] = f
	}
	return f
}

// used is what the instance holds, in bytes.
func (i *instance) used() int64 { return i.budget.used }

// Close implements the same method as documented on pool.Resource.
func (i *instance) Close() {
	ctx := context.Background()
	if i.guest != nil {
		_ = i.guest.Close(ctx) // Only host modules can fail here.
	}
	if i.env != nil {
		_ = i.env.Close(ctx)
	}
	i.budget.ledger.used.Add(i.resting) // so that what is given back was taken
	i.budget.ledger.give(i.owned)
	i.resting, i.owned = 0, 0
	if i.own != nil {
		_ = i.own.image.Close() // It was only read.
	}
	// What the runtime frees, it does not free in all cases: not where the start failed, and not where the end of a
	// context closed the module after its last call.
	i.memory.Release()
	i.shared.Release()
	i.budget.Give(i.fixed)
	i.fixed = 0
	i.files.closeAll()
	i.clearVars()
}
