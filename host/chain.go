package host

import (
	"context"
	"errors"
	"fmt"
)

// layer is the middleware of one layer around one core.
type layer struct {
	name       string
	middleware int
	// call calls the middleware at a place, the first being the outermost; describe names its type for the trace.
	call     func(ctx context.Context, i int, next Next) error
	describe func(i int) any
	core     Next

	// Where the layer streams: the emitter that core uses, the hooks that the middleware under way registered, and
	// the layer's result.
	out    **emitter
	hooks  *[]StreamHooks
	result func() *Response
	set    func(*Response)

	tracers tracers
	// around are the costs of what is around the layer.
	around *ledger
	trace  func(hook string) HookTrace
	// passing is what goes down the layer, for the trace; nil where that is not told.
	passing func() passing
}

// run calls the middleware and the core inside. Each middleware is guarded. Termination by one of them is no error; an
// error of the core that happens to be ErrTerminate is one, for it belongs to what runs inside.
func (l *layer) run(ctx context.Context) (terminated bool, err error) {
	if l.middleware == 0 {
		return false, l.core(ctx)
	}
	l.around = l.tracers.ledger(ctx)
	var inner error
	err = l.at(ctx, 0, &inner)
	if errors.Is(err, ErrTerminate) && (inner == nil || !errors.Is(err, inner)) {
		return true, nil
	}
	return false, err
}

// at runs the chain from the middleware at place i on.
func (l *layer) at(ctx context.Context, i int, inner *error) error {
	if i == l.middleware {
		*inner = l.core(l.tracers.within(ctx, l.around))
		return *inner
	}
	if len(l.tracers) == 0 {
		return l.middlewareAt(ctx, i, inner, nil)
	}
	t := l.trace("process")
	t.Layer, t.SourceType = l.name, typeOf(l.describe(i))
	ctx, end := l.tracers.start(ctx, &t)
	defer end() // also where a consumer's panic passes through
	w := l.watch(&t)
	t.Err = l.middlewareAt(ctx, i, inner, w)
	w.over(l)
	return t.Err
}

// below runs what the middleware at place i wraps.
func (l *layer) below(ctx context.Context, i int, inner *error, w *watch) error {
	if w != nil {
		defer w.returned(l)
	}
	return l.at(ctx, i+1, inner)
}

// typeOf is what a provider or a middleware is called where there is no other name: what it says itself, or its Go type.
func typeOf(v any) string {
	if t, ok := v.(SourceTypeOf); ok {
		return t.SourceType()
	}
	return fmt.Sprintf("%T", v)
}

// middlewareAt calls the middleware at place i. w watches it; nil where nobody follows.
func (l *layer) middlewareAt(ctx context.Context, i int, inner *error, w *watch) error {
	var out *emitter
	if l.out != nil {
		out = *l.out
	}
	return guard(out, func() error {
		return l.call(ctx, i, func(ctx context.Context) error {
			if w != nil {
				w.calls(l)
			}
			if out == nil || len(*l.hooks) == 0 {
				return l.below(ctx, i, inner, w)
			}
			hooks := *l.hooks
			*l.hooks = nil
			return hookedStream(l.out, hooks, func() error { return l.below(ctx, i, inner, w) }, l.result, l.set)
		})
	})
}
