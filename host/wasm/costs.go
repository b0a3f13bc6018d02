package wasm

import (
	"context"
	"sync"
	"time"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm/engine"
)

// spending is what the calls of a plugin for one part of a run came to: those of process and of the on_update that belongs to
// it, and those of a hook and the migrate_state before it. Limits are those of one call, so what is added up over several
// calls is told without one.
type spending struct {
	mu             sync.Mutex
	calls, removed int
	cpu            time.Duration
	fuel           int64
	memory, output int64 // of the call that had most
}

// spent counts a call that is over, and tells the trace of the part what it came to so far.
func (v *version) spent(ctx context.Context, c *call, u engine.Usage) {
	first := c
	for first.charged != nil {
		first = first.charged
	}
	s := &first.spending
	s.mu.Lock()
	defer s.mu.Unlock() // until it is told: what is told last counts
	s.calls++
	s.removed += c.removed
	s.cpu += u.Duration
	s.fuel += u.Fuel
	s.memory, s.output = max(s.memory, u.Memory), max(s.output, int64(u.Output))
	host.ReportCost(ctx, v.appendCosts(make([]host.Cost, 0, 5), c.hook, s)...)
}

func (v *version) appendCosts(costs []host.Cost, hook abi.Hook, s *spending) []host.Cost {
	limits := v.module.Limits()
	timeout, _ := v.timeout(hook)
	cpu := host.Cost{Name: "cpu", Used: int64(s.cpu), Limit: positive(int64(timeout)), Unit: "ns"}
	if v.limits.Fuel > 0 {
		cpu = host.Cost{Name: "cpu", Used: s.fuel, Limit: v.limits.Fuel, Unit: "fuel"}
	}
	if s.calls > 1 {
		cpu.Limit = 0
	}
	costs = append(costs, cpu,
		host.Cost{Name: "memory", Used: s.memory, Limit: positive(limits.Memory), Unit: "bytes"},
		host.Cost{Name: "output", Used: s.output, Limit: positive(limits.Output), Unit: "bytes"})
	if s.calls > 1 {
		costs = append(costs, host.Cost{Name: "calls", Used: int64(s.calls)})
	}
	if s.removed > 0 {
		costs = append(costs, host.Cost{Name: "invisible", Used: int64(s.removed), Unit: "characters"})
	}
	return costs
}

func positive(n int64) int64 { return max(n, 0) }
