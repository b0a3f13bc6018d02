package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// envFunc is a function of extism:host/env. It gets the instance that calls it, reads its parameters from the stack and
// leaves its result there. An error stops the guest.
type envFunc struct {
	signature signature
	call      func(i *instance, stack []uint64) error
}

// hostFault is what a host function stops a guest with. It travels through the runtime as a panic, which is the
// runtime's own way to unwind a guest, and comes out of the call as an error.
type hostFault struct {
	// cause is an error of this package, to be returned as it is, or nil.
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

// instantiateEnv makes the functions of extism:host/env available in a runtime.
func instantiateEnv(ctx context.Context, r wazero.Runtime, log *slog.Logger) error {
	builder := r.NewHostModuleBuilder(moduleEnv)
	for name, f := range envFuncs {
		builder.NewFunctionBuilder().
			WithGoModuleFunction(guarded(name, f, log), valueTypes(f.signature.params), valueTypes(f.signature.results)).
			Export(name)
	}
	_, err := builder.Instantiate(ctx)
	return err
}

// guarded makes a host function out of f. It finds the instance, does not begin once the call is over its time, so that
// a loop of cheap host functions ends too, and lets no panic of the host's own pass.
func guarded(name string, f envFunc, log *slog.Logger) api.GoModuleFunc {
	return func(ctx context.Context, _ api.Module, stack []uint64) {
		i := instanceOf(ctx)
		if err := i.ended(); err != nil {
			panic(err)
		}
		if err := i.protect(name, log, func() error { return f.call(i, stack) }); err != nil {
			panic(err)
		}
	}
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
