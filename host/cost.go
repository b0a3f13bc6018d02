package host

import (
	"context"
	"slices"
	"sync"
)

// Cost is what one part of a run used of one limit.
type Cost struct {
	// Name is the limit's name in the configuration, such as "memory".
	Name string
	Used int64
	// Limit is 0 where there is none.
	Limit int64
	// Unit is "ns", "bytes", "fuel" or empty for a plain number.
	Unit string
}

// ReportCost tells the trace what a part of a run used of its limits ([HookTrace.Costs]). The part is the one that ctx
// belongs to: the hook, the middleware or the tool call that was given ctx, or a context made of it. What is reported inside
// of next counts for the parts that run there, or for what is around the caller of next, and never for that itself.
//
// Of several reports of one name in one part the last counts: what adds up is reported as its sum so far. ReportCost does
// nothing where nobody follows the run, outside of a run, and once the part is over. It may be called by many goroutines.
func ReportCost(ctx context.Context, costs ...Cost) { ledgerOf(ctx).report(costs) }

// ledger gathers the costs of one part of a run. A nil ledger is that of a part which nobody follows.
type ledger struct {
	mu    sync.Mutex
	over  bool
	costs []Cost
}

type ledgerKey struct{}

// ledgerOf is the ledger of the part that a context belongs to, or nil.
func ledgerOf(ctx context.Context) *ledger {
	l, _ := ctx.Value(ledgerKey{}).(*ledger)
	return l
}

// ledger is ledgerOf where somebody follows the run: to find none costs most.
func (ts tracers) ledger(ctx context.Context) *ledger {
	if len(ts) == 0 {
		return nil
	}
	return ledgerOf(ctx)
}

// within has what is reported by a context count for a part; nil is for no part.
func (ts tracers) within(ctx context.Context, l *ledger) context.Context {
	if len(ts) == 0 || ledgerOf(ctx) == l {
		return ctx
	}
	return context.WithValue(ctx, ledgerKey{}, l)
}

func (l *ledger) report(costs []Cost) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return
	}
	for _, c := range costs {
		if i := slices.IndexFunc(l.costs, func(have Cost) bool { return have.Name == c.Name }); i >= 0 {
			l.costs[i] = c
		} else {
			l.costs = append(l.costs, c)
		}
	}
}

// close returns what was reported, and takes no more.
func (l *ledger) close() []Cost {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	return l.costs
}
