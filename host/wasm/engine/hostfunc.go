package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/weft-run/weft/host/wasm/engine/kernel"
	"github.com/weft-run/weft/host/wasm/engine/pool"
)

// Function is a function of the host that a guest may call: one that imports extism:host/user.NAME, (i64) -> i64, gives
// it the offset of a block with the input and gets the offset of one with what it returned, 0 for nothing.
//
// It runs on the goroutine of the call. ctx is over when the call is; a Function that waits must obey it. It carries the
// depth of the call: a call of a module under it is a nested one, which takes another instance; see Limits.Depth. The time
// that passes in it is not the guest's. The input is the Function's own. An error ends the guest, and comes out of the
// call as it is; what the guest is to handle itself is returned as data.
type Function func(ctx context.Context, input []byte) ([]byte, error)

// hostFunc is a function of the host. It gets the instance that calls it, reads its parameters from the stack and leaves
// its result there. An error stops the guest.
type hostFunc struct {
	signature signature
	call      func(i *instance, stack []uint64) error
}

// hostFault is what a host function stops a guest with. It travels through the runtime as a panic, which is the
// runtime's own way to unwind a guest, and comes out of the call as an error.
type hostFault struct {
	// cause is an error to be returned as it is, or nil.
	cause error
	// reason is for a TrapError, where there is no cause.
	reason string
}

func (f *hostFault) Error() string {
	if f.cause != nil {
		return f.cause.Error()
	}
	return f.reason
}

// refuse stops the guest with a reason.
func refuse(format string, args ...any) error {
	return &hostFault{reason: fmt.Sprintf(format, args...)}
}

// userSignature is what functions of extism:host/user have.
var userSignature = types("I:I")

// instantiateHost makes the functions that the kernel imports available in a runtime, and those of extism:host/user that
// a module imports.
func instantiateHost(ctx context.Context, r wazero.Runtime, user []string, log *slog.Logger) error {
	builder := r.NewHostModuleBuilder(kernel.ModuleHost)
	for name, f := range hostFuncs {
		export(builder, name, f, log)
	}
	if _, err := builder.Instantiate(ctx); err != nil || len(user) == 0 {
		return err
	}
	builder = r.NewHostModuleBuilder(moduleUser)
	for _, name := range user {
		export(builder, name, hostFunc{userSignature, func(i *instance, stack []uint64) error {
			return i.callFunction(name, stack)
		}}, log)
	}
	_, err := builder.Instantiate(ctx)
	return err
}

// export adds a function to a host module. It finds the instance, does not begin once the call is over, and lets no panic
// of the host's own pass.
func export(builder wazero.HostModuleBuilder, name string, f hostFunc, log *slog.Logger) {
	call := func(ctx context.Context, stack []uint64) {
		i := instanceOf(ctx)
		if fault := i.meter.ended(); fault != nil {
			panic(fault)
		}
		i.meter.pay(0)
		if err := i.protect(name, log, func() error { return f.call(i, stack) }); err != nil {
			panic(err)
		}
	}
	builder.NewFunctionBuilder().
		WithGoFunction(api.GoFunc(call), valueTypes(f.signature.params), valueTypes(f.signature.results)).
		Export(name)
}

// protect calls f and turns a panic of the host's code into an error. What went wrong is logged on the host's side; the
// guest and its author see no more than that it did.
func (i *instance) protect(name string, log *slog.Logger, f func() error) (err error) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		if fault, ok := r.(error); ok {
			var own *hostFault
			if errors.As(fault, &own) {
				err = own
				return
			}
		}
		log.Error("host function panicked", "plugin", i.module.name, "function", name, "panic", r, "stack", string(debug.Stack()))
		err = refuse("host function %s failed", name)
	}()
	return f()
}

func valueTypes(names []string) []api.ValueType {
	var list []api.ValueType
	for _, n := range names {
		if n == "i64" {
			list = append(list, api.ValueTypeI64)
		} else {
			list = append(list, api.ValueTypeI32)
		}
	}
	return list
}

// callFunction calls a function of Spec.Functions.
func (i *instance) callFunction(name string, stack []uint64) error {
	input, err := i.block(name, "an input", stack[0])
	if err != nil {
		return err
	}
	own := append([]byte(nil), input...)
	var output []byte
	err = i.wait(func(ctx context.Context) (err error) {
		output, err = i.module.spec.Functions[name](ctx, own)
		return err
	})
	if err != nil {
		var fault *hostFault
		i.foreign = errors.As(err, &fault) && fault.cause != nil
		return err
	}
	stack[0] = 0
	return i.give(stack, name, output)
}

// wait calls f, which may take long, with a context that ends with the call. The time it takes is not the guest's. Where
// the call is over when f returns, that is the error, whatever f says.
func (i *instance) wait(f func(context.Context) error) error {
	ctx := context.WithValue(i.context.Context, nestingKey{}, nesting{nestingOf(i.context.Context).depth + 1, i.hold})
	err := i.meter.wait(ctx, f)
	if fault := i.meter.ended(); fault != nil {
		return fault
	}
	if err == nil {
		return nil
	}
	var fault *hostFault
	if errors.As(err, &fault) {
		return fault
	}
	return &hostFault{cause: err}
}

// nesting is what a call is nested in: how many calls of modules, and the lease of the innermost one.
type nesting struct {
	depth int
	hold  *pool.Hold
}

// nestingKey is the key of the nesting in the context that functions of the host get.
type nestingKey struct{}

func nestingOf(ctx context.Context) nesting {
	n, _ := ctx.Value(nestingKey{}).(nesting)
	return n
}

// give copies a value into a fresh block and leaves its offset on the stack. No data has no block: its offset is 0.
func (i *instance) give(stack []uint64, function string, value []byte) error {
	i.meter.pay(len(value))
	offset, ok := i.kernel.Put(value)
	if !ok {
		i.budget.refused = or(i.budget.kernel, byModule)
		return refuse("%s found no room for %s", function, size(int64(len(value))))
	}
	stack[0] = offset
	return nil
}

// block returns what a function of the host is given at an offset. 0 stands for nothing.
func (i *instance) block(function, what string, offset uint64) ([]byte, error) {
	if offset == 0 {
		return nil, nil
	}
	data, ok := i.kernel.Block(offset)
	if !ok {
		return nil, refuse("%s of %s at offset %d, where no block begins", function, what, offset)
	}
	i.meter.pay(len(data))
	return data, nil
}
