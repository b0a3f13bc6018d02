package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
)

// scriptedProvider is a scripted provider compiled natively: its hooks carry out operations through the public API of
// package host. A hook without operations does nothing.
type scriptedProvider struct {
	play   *play
	script Provider
}

// scriptedWrapper is a scripted provider with "process".
type scriptedWrapper struct{ scriptedNotices }

// scriptedNotices are the hooks that a provider with hooks and one that wraps may both have.
type scriptedNotices struct{ scriptedProvider }

// scriptedHooks is a scripted provider with hooks.
type scriptedHooks struct{ scriptedNotices }

var (
	_ host.ContextProvider    = (*scriptedHooks)(nil)
	_ host.RunFailedHook      = (*scriptedHooks)(nil)
	_ host.SessionCreatedHook = (*scriptedHooks)(nil)
	_ host.WrappingProvider   = (*scriptedWrapper)(nil)
	_ host.RunFailedHook      = (*scriptedWrapper)(nil)
	_ host.SourceTypeOf       = (*scriptedHooks)(nil)
)

// nativeProvider compiles a scripted provider natively.
func (p *play) nativeProvider(script Provider) host.Provider {
	notices := scriptedNotices{scriptedProvider{p, script}}
	if script.Script["process"] != nil {
		return &scriptedWrapper{notices}
	}
	return &scriptedHooks{notices}
}

// SourceID is the one in the file.
func (p *scriptedProvider) SourceID() string { return p.script.SourceID }

// SourceType is "script".
func (p *scriptedProvider) SourceType() string { return string(KindScript) }

func (p *scriptedProvider) run(ctx context.Context, hook string, sc *host.SessionContext, next host.Next) error {
	ops := p.script.Script[hook]
	if len(ops) == 0 {
		return nil
	}
	return runOps(ctx, ops, &providerScope{play: p.play, sc: sc, next: next, options: sc.Options()})
}

// SessionCreated carries out "session_created".
func (p *scriptedNotices) SessionCreated(ctx context.Context, sc *host.SessionContext) error {
	return p.run(ctx, "session_created", sc, nil)
}

// RunFailed carries out "run_failed".
func (p *scriptedNotices) RunFailed(ctx context.Context, sc *host.SessionContext, _ error) error {
	return p.run(ctx, "run_failed", sc, nil)
}

// BeforeRun carries out "before_run".
func (p *scriptedHooks) BeforeRun(ctx context.Context, sc *host.SessionContext) error {
	return p.run(ctx, "before_run", sc, nil)
}

// AfterRun carries out "after_run".
func (p *scriptedHooks) AfterRun(ctx context.Context, sc *host.SessionContext) error {
	return p.run(ctx, "after_run", sc, nil)
}

// Process carries out "process".
func (p *scriptedWrapper) Process(ctx context.Context, sc *host.SessionContext, next host.Next) error {
	return p.run(ctx, "process", sc, next)
}

// providerScope is one call of a scripted provider's hook.
type providerScope struct {
	play    *play
	sc      *host.SessionContext
	next    host.Next // nil but in process
	options host.Options
}

var _ scope = (*providerScope)(nil)

// holds compares keys of the provider's own state.
func (s *providerScope) holds(w When) (bool, error) {
	for _, m := range w.State {
		have, ok, err := s.sc.State().GetRaw(m.Name)
		if err != nil || !ok || !sameJSON(have, m.Value) {
			return false, err
		}
	}
	return true, nil
}

func (s *providerScope) do(ctx context.Context, op Op) error {
	switch op.Name {
	case "log":
		s.play.logLine(*op.Text)
	case "log_state", "log_metadata", "log_sources", "log_seen", "log_response":
		line, err := s.line(op)
		if err != nil {
			return err
		}
		s.play.logLine(line)
	case "extend_messages":
		s.sc.ExtendMessages(toHost(op.Messages)...)
	case "extend_instructions":
		s.sc.ExtendInstructions(op.Instructions...)
	case "extend_tools":
		tools, err := s.play.tools(op.Tools)
		if err != nil {
			return err
		}
		s.sc.ExtendTools(tools...)
	case "extend_middleware":
		return s.sc.ExtendMiddleware(s.play.nativeMiddleware(op.Middleware))
	case "state_set":
		return s.sc.State().Set(op.Key, op.Value)
	case "state_incr":
		var n int64
		if _, err := s.sc.State().Get(op.Key, &n); err != nil {
			return err
		}
		return s.sc.State().Set(op.Key, n+1)
	case "metadata_set":
		return s.sc.SetMetadata(op.Key, op.Value)
	case "set_option":
		return overwriteOption(&s.options, op.Key, op.Value)
	case "set_result":
		return s.sc.SetResponse(host.NewResponse(*op.Text))
	case "call_next":
		if err := s.next(ctx); err != nil && !op.Catch {
			return err
		}
	case "fail":
		return errors.New(op.Error)
	default:
		return fmt.Errorf("op %q is not one of a provider's", op.Name)
	}
	return nil
}

// line is what a log operation appends.
func (s *providerScope) line(op Op) (string, error) {
	var parts []string
	switch op.Name {
	case "log_state":
		value, _, err := s.sc.State().GetRaw(op.Key)
		return op.Key + "=" + string(tidy(value)), err
	case "log_metadata":
		var value jsontext.Value
		_, err := s.sc.Metadata(op.Key, &value)
		return op.Key + "=" + string(tidy(value)), err
	case "log_sources":
		for _, source := range s.sc.Sources() {
			parts = append(parts, source.SourceID)
		}
	case "log_seen":
		for _, m := range s.sc.Messages(host.Filter{}) {
			parts = append(parts, m.Text())
		}
	case "log_response":
		if r := s.sc.Response(); r != nil {
			return r.Text(), nil
		}
		return "-", nil
	}
	return strings.Join(parts, ","), nil
}

// overwriteOption sets an option in place, so that a copy that shares anything with the run's own options would be found
// out.
func overwriteOption(o *host.Options, key string, value jsontext.Value) error {
	set, err := host.ParseOptions(objectOf(key, value))
	if err != nil {
		return err
	}
	overwrite(&o.Store, set.Store)
	overwrite(&o.Temperature, set.Temperature)
	overwrite(&o.TopP, set.TopP)
	overwrite(&o.MaxTokens, set.MaxTokens)
	overwrite(&o.Seed, set.Seed)
	if set.Stop != nil {
		copy(o.Stop, set.Stop)
	}
	if o.Extra == nil {
		o.Extra = set.Extra
	}
	for name, v := range set.Extra {
		copy(o.Extra[name], v)
		o.Extra[name] = v
	}
	return nil
}

func overwrite[T any](have **T, set *T) {
	switch {
	case set == nil:
	case *have == nil:
		*have = set
	default:
		**have = *set
	}
}
