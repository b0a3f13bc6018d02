package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// instance is a module that has been instantiated, with what the host keeps for it. One goroutine at a time uses it;
// busy holds whoever would break that.
type instance struct {
	module  *Module
	guest   api.Module
	memory  *guestMemory
	budget  budget
	arena   arena
	exports map[string]api.Function
	globals []api.MutableGlobal
	files   openFiles
	busy    atomic.Bool
	// stop ends the call in flight, for a module that is closed by force.
	stop atomic.Pointer[context.CancelCauseFunc]

	// What follows belongs to the call in flight.
	done        <-chan struct{}
	input       uint64
	output      extent
	outputLimit int64
	failure     uint64
	export      string
	vars        map[string][]byte
	varsSize    int64
	logs        logs
	printed     printed
	// late says that the context was over when the guest returned. The runtime may then close the guest a moment later.
	late bool
	// altered says that the guest changed a file descriptor that it did not open; opened is how many it has open.
	altered bool
	opened  int
}

// extent is a part of the arena.
type extent struct{ offset, length uint64 }

// errEnded stops a guest whose context is over. Why it is over is asked of the context.
var errEnded = &hostFault{reason: "the call is over its time"}

// errDeadline is why a context of this package ends, as opposed to one of the caller's.
var errDeadline = errors.New("deadline of the engine")

// instanceKey is the key of the instance in the context of a call.
type instanceKey struct{}

// instanceContext carries an instance to the host functions. It is a type of its own, and the innermost context, so that
// they find it at once, however many values the caller's context has.
type instanceContext struct {
	context.Context
	instance *instance
}

func (c *instanceContext) Value(key any) any {
	if key == (instanceKey{}) {
		return c.instance
	}
	return c.Context.Value(key)
}

func instanceOf(ctx context.Context) *instance {
	return ctx.Value(instanceKey{}).(*instance)
}

// ended returns errEnded once the context of the call is over.
func (i *instance) ended() error {
	select {
	case <-i.done:
		return errEnded
	default:
		return nil
	}
}

// lastPreopen is the highest file descriptor that an instance has from the start: standard input, output and error, and
// one for each mount.
func (i *instance) lastPreopen() uint32 { return uint32(2 + len(i.module.mounts)) }

// newInstance instantiates the module. Where state is given, the instance gets that instead of what its own start made
// of it. Any error has the instance closed.
func newInstance(ctx context.Context, m *Module, state *snapshot) (i *instance, err error) {
	i = &instance{module: m, exports: map[string]api.Function{}}
	i.budget = budget{ledger: &m.engine.memory, limit: m.limits.Memory}
	i.arena.budget = &i.budget
	i.memory = &guestMemory{budget: &i.budget}
	i.busy.Store(true)
	defer func() {
		i.busy.Store(false)
		if err != nil {
			i.close()
			i = nil
		}
	}()

	least := int64(m.info.Memory.Pages.Min * PageSize)
	if !i.budget.take(least) {
		return i, m.limitError("host memory", "", size(m.engine.memory.limit), size(least), "the memory of the engine")
	}
	i.memory.prepaid = least

	start := []string{"_initialize"}
	if state != nil && m.info.GoGuest {
		// All that a Go guest does there is to start its runtime, and the state has that done already.
		start = nil
	}
	call, end := i.begin(ctx, "start", m.limits.Start)
	call = &instanceContext{experimental.WithMemoryAllocator(call, experimental.MemoryAllocatorFunc(
		func(uint64, uint64) experimental.LinearMemory { return i.memory })), i}
	i.guest, err = m.runtime.InstantiateModule(call, m.compiled, i.moduleConfig(start...))
	if err != nil {
		err = i.classify(ctx, call, err, "start")
		end()
		return i, err
	}
	end()
	if i.guest.IsClosed() {
		return i, &ExitError{Name: m.name, Export: "start"}
	}
	for _, name := range m.globals {
		g, ok := i.guest.ExportedGlobal(name).(api.MutableGlobal)
		if !ok {
			return i, fmt.Errorf("%s: global %s cannot be set", m.name, printable(name))
		}
		i.globals = append(i.globals, g)
	}
	if state != nil {
		if err := i.become(state); err != nil {
			return i, err
		}
	}
	// What the start did is part of what every call begins with.
	i.budget.hit, i.altered, i.opened = false, false, 0
	return i, nil
}

// become puts a snapshot into a new instance. Its memory may have to grow for that.
func (i *instance) become(state *snapshot) error {
	if missing := state.size - len(i.memory.buf); missing > 0 {
		if _, ok := i.guest.Memory().Grow(uint32(missing / PageSize)); !ok {
			return i.module.limitError("host memory", "", size(i.module.engine.memory.limit), size(int64(state.size)),
				"the memory of the engine")
		}
	}
	state.restore(i.memory.buf, i.globals)
	return nil
}

// begin prepares the instance for a call that may take that long, and returns its context. end is to be called when the
// call is over.
func (i *instance) begin(ctx context.Context, export string, limit time.Duration) (call context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	i.stop.Store(&cancel)
	release := func() {}
	if limit >= 0 {
		ctx, release = context.WithTimeoutCause(ctx, limit, errDeadline)
	}
	i.export = export
	i.done = ctx.Done()
	i.budget.hit = false
	i.late, i.altered, i.opened = false, false, 0
	i.printed.buf = i.printed.buf[:0]
	return &instanceContext{ctx, i}, func() {
		i.stop.Store(nil)
		release()
		cancel(nil)
	}
}

// interrupt ends the call in flight, if there is one.
func (i *instance) interrupt(cause error) {
	if stop := i.stop.Load(); stop != nil {
		(*stop)(cause)
	}
}

func (i *instance) function(name string) api.Function {
	f, ok := i.exports[name]
	if !ok {
		// Asked for once: the runtime makes a stack for each function that it hands out.
		f = i.guest.ExportedFunction(name)
		i.exports[name] = f
	}
	return f
}

// setVar sets or, where value is nil, removes a var. Vars count as memory of the instance.
func (i *instance) setVar(key string, value []byte) bool {
	const cost = 64 // what an entry costs beside its bytes
	if old, ok := i.vars[key]; ok {
		n := int64(len(key) + len(old) + cost)
		delete(i.vars, key)
		i.varsSize -= n
		i.budget.give(n)
	}
	if value == nil {
		return true
	}
	n := int64(len(key) + len(value) + cost)
	if !i.budget.take(n) {
		return false
	}
	if i.vars == nil {
		i.vars = map[string][]byte{}
	}
	i.vars[key] = append([]byte(nil), value...)
	i.varsSize += n
	return true
}

func (i *instance) clearVars() {
	clear(i.vars)
	i.budget.give(i.varsSize)
	i.varsSize = 0
}

// used is what the instance holds, in bytes.
func (i *instance) used() int64 { return i.budget.used }

// settle ends what belongs to a call, and says whether the instance can serve another one at all.
func (i *instance) settle() bool {
	i.arena.reset()
	i.logs = logs{}
	if i.module.spec.Shared {
		return !i.late && !i.guest.IsClosed()
	}
	i.clearVars()
	return !i.late && !i.guest.IsClosed() && !i.altered && i.opened == 0
}

// clean makes the instance as it was before the call, and says whether that could be done. An instance that it could not
// be done to must be closed.
func (i *instance) clean() bool {
	switch state := i.module.state; {
	case !i.settle():
		return false
	case i.module.spec.Shared:
		return true
	case state == nil || len(i.memory.buf) != state.size:
		return false
	default:
		state.restore(i.memory.buf, i.globals)
		return true
	}
}

// close frees everything. It may be called again.
func (i *instance) close() {
	if i.guest != nil {
		_ = i.guest.Close(context.Background()) // Only host modules can fail here.
	}
	// What the runtime frees, it does not free in all cases: not where the start failed, and not where the end of a
	// context closed the module after its last call.
	i.memory.Free()
	i.files.closeAll()
	i.arena.close()
	i.clearVars()
}
