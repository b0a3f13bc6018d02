package engine

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/weft-run/weft/host/wasm/engine/metering"
)

// A metered guest pays fuel for what it does, and gets it a slice at a time. When a slice is used up the guest calls
// tick, and is in Go: the garbage collector and the scheduler get their turn, and whether the call goes on is decided
// here. So no flag is written across threads, and nothing has to wake up at a deadline.

// slice is how much fuel a guest gets at a time: as a rule less than a fifth of a millisecond, and for the slowest
// instructions that it can choose some tens; see package metering.
const slice = 1 << 18

// What host functions cost the guest: a loop that does nothing but call them ends, too.
const (
	fuelPerCall = 100
	// bytesPerFuel is how many bytes that a host function reads or writes cost one unit.
	bytesPerFuel = 8
)

// meter watches one call of a guest. It is used by whoever runs the instance, interrupt excepted.
type meter struct {
	// metered says that the guest is. One that is not is ended by the runtime, which closes it.
	metered bool
	// fuel is what is left of the slice, stack what is left of the stack. They are globals of the guest, and nil until it
	// is instantiated.
	fuel, stack api.MutableGlobal

	// limit bounds the time, budget the fuel. A negative one bounds nothing.
	limit  time.Duration
	budget int64
	// began is when the call began, waited what passed in functions of the host that wait, both by time.Since(started).
	began, waited time.Duration
	// used is the fuel of the slices that are used up, given the size of the one that is not.
	used, given int64
	// done is closed when the caller has no more use for the call.
	done <-chan struct{}

	// stopped is why the host ends the call in flight, if it does; an instance that was stopped is not used again. Waiting
	// ends the function of the host that the guest waits in.
	stopped atomic.Pointer[error]
	waiting atomic.Pointer[context.CancelCauseFunc]
}

// What ends a call. The cause is asked for when the guest is out.
var (
	errEnded     = &hostFault{reason: "the call is over its time"}
	errOutOfFuel = &hostFault{reason: "the call is out of fuel"}
	errOverflow  = &hostFault{reason: "the stack is used up"}
)

// deadline is why the context of one call ends where its time is up. The deadline of a call that it is nested in is another
// one, and the caller's.
type deadline struct{ _ byte } // not empty, so that no two have the same address

func (*deadline) Error() string { return "deadline of the engine" }

// begin starts the meter for a call.
func (m *meter) begin(done <-chan struct{}, limit time.Duration, budget, stack int64) {
	m.limit, m.budget, m.done = limit, budget, done
	m.began, m.waited, m.used, m.given = time.Since(started), 0, 0, 0
	if m.fuel != nil {
		m.given = m.next()
		m.fuel.Set(uint64(m.given))
		m.fill(stack)
	}
}

// bind finds the globals of the meter in the guest and gives it its stack, where that was not done before. A start
// function runs before the host has the guest: it has no fuel then, so that it asks for some before it does anything.
func (m *meter) bind(guest api.Module, of *Module) {
	if m.fuel != nil {
		return
	}
	m.fuel, _ = guest.ExportedGlobal(of.artifact.fuel).(api.MutableGlobal)
	m.stack, _ = guest.ExportedGlobal(of.artifact.stack).(api.MutableGlobal)
	m.fill(of.limits.Stack)
}

// fill gives the guest its stack.
func (m *meter) fill(stack int64) {
	if stack < 0 {
		stack = math.MaxInt64
	}
	m.stack.Set(uint64(stack))
}

// end returns what the call used.
func (m *meter) end() (fuel int64, ran, waited time.Duration) {
	if m.fuel != nil {
		if fuel = m.used + m.given - int64(m.fuel.Get()); fuel < 0 {
			fuel = math.MaxInt64 // as in tick
		}
	}
	return fuel, time.Since(started) - m.began - m.waited, m.waited
}

// next returns the size of the next slice.
func (m *meter) next() int64 {
	if m.budget < 0 {
		return slice
	}
	return min(slice, m.budget-m.used)
}

// tick is called by the guest when a slice is used up. left is what is left of it, below zero.
func (m *meter) tick(left int64) (int64, *hostFault) {
	if m.used += m.given - left; m.used < 0 {
		m.used = math.MaxInt64 // A guest that asks for memory that is not to be had is charged for it all the same.
	}
	m.given = left // so that what is used up is not counted again where the call ends here
	if fault := m.ended(); fault != nil {
		return left, fault
	}
	if m.budget >= 0 && m.used >= m.budget {
		return left, errOutOfFuel
	}
	m.given = m.next()
	return m.given, nil
}

// ended says whether the call is to end.
func (m *meter) ended() *hostFault {
	if m.stopped.Load() != nil {
		return errEnded
	}
	select {
	case <-m.done:
		return errEnded
	default:
	}
	if m.limit >= 0 && m.metered && m.left() <= 0 {
		return errEnded
	}
	return nil
}

// left is how much time the guest has.
func (m *meter) left() time.Duration { return m.limit - (time.Since(started) - m.began - m.waited) }

// fuelLeft is how much fuel the guest has, and whether that is bounded.
func (m *meter) fuelLeft() (int64, bool) {
	if m.budget < 0 || m.fuel == nil {
		return 0, false
	}
	return max(0, m.budget-m.used-m.given+int64(m.fuel.Get())), true
}

// charge takes fuel.
func (m *meter) charge(fuel int64) {
	if m.fuel != nil {
		m.fuel.Set(m.fuel.Get() - uint64(fuel))
	}
}

// pay takes the price of a function of the host that handles that many bytes.
func (m *meter) pay(bytes int) { m.charge(fuelPerCall + int64(bytes)/bytesPerFuel) }

// wait calls a function of the host that may take long. The context that it gets ends with the call. The time that
// passes is not the guest's.
func (m *meter) wait(ctx context.Context, f func(context.Context) error) error {
	began := time.Since(started)
	defer func() { m.waited += time.Since(started) - began }()
	return m.block(ctx, f)
}

// block calls a function with a context that ends with the call.
func (m *meter) block(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	before := m.waiting.Swap(&cancel)
	defer func() {
		m.waiting.Store(before)
		cancel(nil)
	}()
	if stopped := m.stopped.Load(); stopped != nil {
		cancel(*stopped)
	}
	return f(ctx)
}

// interrupt ends the call in flight.
func (m *meter) interrupt(cause error) {
	m.stopped.CompareAndSwap(nil, &cause)
	if cancel := m.waiting.Load(); cancel != nil {
		(*cancel)(cause)
	}
}

// instantiateMeter makes what metered modules import available in a runtime.
func instantiateMeter(ctx context.Context, r wazero.Runtime) error {
	i64 := []api.ValueType{api.ValueTypeI64}
	_, err := r.NewHostModuleBuilder(metering.Module).
		NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, guest api.Module, stack []uint64) {
		i := instanceOf(ctx)
		i.meter.bind(guest, i.module)
		fuel, fault := i.meter.tick(int64(stack[0]))
		stack[0] = uint64(fuel)
		if fault != nil {
			panic(fault)
		}
	}), i64, i64).Export(metering.Tick).
		NewFunctionBuilder().WithGoFunction(api.GoFunc(func(context.Context, []uint64) {
		panic(errOverflow)
	}), nil, nil).Export(metering.Overflow).
		Instantiate(ctx)
	return err
}
