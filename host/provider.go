package host

import "context"

// Provider adds context to the runs of an agent. The list of an agent's providers takes anything that has a source id
// and implements at least one of [BeforeRunHook], [AfterRunHook], [RunFailedHook], [SessionCreatedHook] and the hooks of
// the loop ([Hooks] has them all), or [WrappingProvider] in place of the first two. Providers are shared by all runs of all sessions: what belongs to one
// session goes into [SessionContext.State].
type Provider interface {
	// SourceID is the provider's name in the agent, snake_case and unique; names that begin with "weft." are refused. It
	// stands on all that the provider adds and is the name of its state. It must not change.
	SourceID() string
}

// ContextProvider is a provider with the two hooks that most have.
type ContextProvider interface {
	Provider
	BeforeRunHook
	AfterRunHook
}

// BeforeRunHook is called before the model, in the order of the providers. An error ends the run before the model was
// called.
type BeforeRunHook interface {
	BeforeRun(ctx context.Context, sc *SessionContext) error
}

// AfterRunHook is called after the model answered, last provider first. An error does not keep the other providers
// from being called: the caller gets the response and the joined errors.
type AfterRunHook interface {
	AfterRun(ctx context.Context, sc *SessionContext) error
}

// RunFailedHook is called in place of AfterRun, last provider first, where the run failed or was cancelled after the
// provider's BeforeRun was done. Its context is not cancelled with the run's. An error is logged.
type RunFailedHook interface {
	RunFailed(ctx context.Context, sc *SessionContext, cause error) error
}

// SessionCreatedHook is called once per session, before the session's first run. A restored session had its first run.
// An error ends the run; the next run of the session tries again.
type SessionCreatedHook interface {
	SessionCreated(ctx context.Context, sc *SessionContext) error
}

// WrappingProvider stands in the list of providers like any other and wraps the rest of it: later providers and the
// model run inside next. It adds context before it calls next and sees the response afterwards. It may call next again,
// and each try starts from the context as it stood, without what the try before added; or it may answer by itself with
// [SessionContext.SetResponse] and not call next at all. To do neither is an error ([ErrNoResult]).
type WrappingProvider interface {
	Provider
	Process(ctx context.Context, sc *SessionContext, next Next) error
}

// Next runs the rest of the chain. Afterwards [SessionContext.Response] is set, unless it returns an error.
type Next func(ctx context.Context) error

// ErrorPolicy says what a failing BeforeRun or Process means for the run.
type ErrorPolicy string

// The error policies.
const (
	// OnErrorFail ends the run with the error. It is the default.
	OnErrorFail ErrorPolicy = "fail"
	// OnErrorSkip goes on without the provider; a warning is logged and the trace shows it. AfterRun errors are then
	// logged too, and not given to the caller.
	OnErrorSkip ErrorPolicy = "skip"
)

// ErrorPolicyOf may be implemented by a provider that wants another policy than [OnErrorFail].
type ErrorPolicyOf interface {
	ErrorPolicy() ErrorPolicy
}

// SourceTypeOf may be implemented by a provider or a middleware that wants another source type than the name of its Go
// type.
type SourceTypeOf interface {
	SourceType() string
}

// HookSet may be implemented by a provider whose methods do not tell what it does, such as one made of a plugin file: of
// the hooks that it implements only those named here are called. The names are the contract's, such as "before_run".
type HookSet interface {
	Hooks() []string
}

// HookFunc is one hook as a plain function.
type HookFunc func(ctx context.Context, sc *SessionContext) error

// ProcessFunc is a wrapping provider's Process as a plain function.
type ProcessFunc func(ctx context.Context, sc *SessionContext, next Next) error

// BeforeRunFunc makes a provider of one function that is its BeforeRun.
func BeforeRunFunc(sourceID string, f HookFunc) Provider { return &beforeRunFunc{named(sourceID), f} }

// AfterRunFunc makes a provider of one function that is its AfterRun.
func AfterRunFunc(sourceID string, f HookFunc) Provider { return &afterRunFunc{named(sourceID), f} }

// WrapFunc makes a wrapping provider of one function.
func WrapFunc(sourceID string, f ProcessFunc) Provider { return &wrapFunc{named(sourceID), f} }

type named string

func (n named) SourceID() string { return string(n) }

type beforeRunFunc struct {
	named
	f HookFunc
}

func (p *beforeRunFunc) BeforeRun(ctx context.Context, sc *SessionContext) error { return p.f(ctx, sc) }
func (p *beforeRunFunc) SourceType() string                                      { return "func" }

type afterRunFunc struct {
	named
	f HookFunc
}

func (p *afterRunFunc) AfterRun(ctx context.Context, sc *SessionContext) error { return p.f(ctx, sc) }
func (p *afterRunFunc) SourceType() string                                     { return "func" }

type wrapFunc struct {
	named
	f ProcessFunc
}

func (p *wrapFunc) Process(ctx context.Context, sc *SessionContext, next Next) error {
	return p.f(ctx, sc, next)
}
func (p *wrapFunc) SourceType() string { return "func" }

// PerSession makes a provider per session: make is called before a session's first run in this process and its result
// serves all later runs of that session. The provider that it returns must have the given source id.
func PerSession(sourceID string, make func(ctx context.Context, session *Session) (Provider, error)) Provider {
	return &perSession{named(sourceID), make}
}

type perSession struct {
	named
	make func(ctx context.Context, session *Session) (Provider, error)
}

var (
	_ BeforeRunHook    = (*beforeRunFunc)(nil)
	_ AfterRunHook     = (*afterRunFunc)(nil)
	_ WrappingProvider = (*wrapFunc)(nil)
	_ Provider         = (*perSession)(nil)
)
