package config

import (
	"cmp"
	"log/slog"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/middleware"
)

// guardTag is the key that names a guard.
const guardTag = "builtin"

// guardReaders read each guard's own keys.
func guardReaders() []named[any] {
	return []named[any]{
		{"logging", settings(loggingKeys)},
		{"pii", settings(piiKeys)},
		{"permissions", func(d *decoder, n *node) any {
			_, allows := n.find("allow")
			if _, denies := n.find("deny"); !denies && !allows {
				d.fault(n, "add allow: or deny:, with a list of tools", "the guard would refuse every call")
			}
			return settings(permissionsKeys)(d, n)
		}},
		{"breaker", func(d *decoder, n *node) any {
			s := settings(breakerKeys)(d, n).(middleware.BreakerConfig)
			refuse, end := cmp.Or(s.RefuseAt, middleware.DefaultRefuseAt), cmp.Or(s.EndAt, middleware.DefaultEndAt)
			if refuse > 0 && end > 0 && end <= refuse {
				d.fault(n, "make end_at larger than refuse_at", "refuse_at is %d and end_at %d, so no call would ever be refused", refuse, end)
			}
			return s
		}},
		{"error_limits", settings(errorLimitsKeys)},
		{"overflow", settings(overflowKeys())},
		{"retry", func(d *decoder, n *node) any {
			s := settings(retryKeys)(d, n).(middleware.RetryConfig)
			base, most := cmp.Or(s.BaseDelay, middleware.DefaultBaseDelay), cmp.Or(s.MaxDelay, middleware.DefaultMaxDelay)
			if base > most && most > 0 {
				d.fault(n, "make max_delay larger", "base_delay is %v, and max_delay %v", base, most)
			}
			return s
		}},
		{"budget", settings(budgetKeys)},
		{"timeouts", settings(timeoutsKeys)},
	}
}

// settings reads the settings of one guard.
func settings[T any](keys []key[T]) func(d *decoder, n *node) any {
	return func(d *decoder, n *node) any {
		var s T
		readMapping(d, n, keys, &s)
		return s
	}
}

// guard reads an entry that is a guard.
func (d *decoder) guard(n *node) (Middleware, bool) {
	settings, ok := readNamed(d, n, guardTag, "a guard", guardReaders())
	if !ok {
		return Middleware{}, false
	}
	name, _ := n.find(guardTag)
	return Middleware{Line: name.line, Column: name.column, Builtin: name.value.text, Settings: settings}, true
}

// guard makes the guard. The client is for strategies that need one.
func (g Middleware) guard(client host.ChatClient, log *slog.Logger) host.Middleware {
	switch s := g.Settings.(type) {
	case middleware.LoggingConfig:
		s.Logger = log
		return middleware.NewLogging(s)
	case middleware.PIIConfig:
		return middleware.NewPII(s)
	case middleware.PermissionsConfig:
		return middleware.NewPermissions(s)
	case middleware.BreakerConfig:
		return middleware.NewBreaker(s)
	case middleware.ErrorLimitsConfig:
		return middleware.NewErrorLimits(s)
	case middleware.OverflowConfig:
		s.Logger = log
		if s.Compactor != nil {
			s.Compactor = finished(s.Compactor, client, log)
		}
		return middleware.NewOverflow(s)
	case middleware.RetryConfig:
		s.Logger = log
		return middleware.NewRetry(s)
	case middleware.BudgetConfig:
		return middleware.NewBudget(s)
	case middleware.TimeoutsConfig:
		return middleware.NewTimeouts(s)
	}
	return host.Middleware{}
}
