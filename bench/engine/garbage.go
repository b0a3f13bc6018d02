package main

import (
	"context"
	"runtime"

	"github.com/weft-run/weft/bench/internal/measure"
)

// garbageAtMost is what a call of before_run may leave for the collector, in bytes, its 0.4 KB of output included.
const garbageAtMost = 2048

// garbageCalls is how many calls are looked at.
const garbageCalls = 500

// garbageCase counts what a call of before_run allocates in the host.
func garbageCase(ctx context.Context, b *bench) ([]row, error) {
	want, err := beforeRun(input)
	if err != nil {
		return nil, err
	}
	cells, err := b.cells(ctx, "garbage", "before_run", hosts(), input, want)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, c := range cells {
		if c.host == hostGRPC || c.host == hostHTTP {
			continue // half of theirs is in another process
		}
		var before, after runtime.MemStats
		for n := range 2 * garbageCalls {
			if n == garbageCalls { // Before, the memory of a guest may still grow.
				runtime.ReadMemStats(&before)
			}
			if err := c.once(); err != nil {
				return nil, err
			}
		}
		runtime.ReadMemStats(&after)
		allocations := float64(after.Mallocs-before.Mallocs) / garbageCalls
		bytes := float64(after.TotalAlloc-before.TotalAlloc) / garbageCalls
		r := row{Case: c.kase, Guest: c.guest, Host: c.host, Figures: []measure.Figure{measure.Plain("allocations", allocations, "")}}
		if c.host == hostClean || c.host == hostShared {
			r.Figures = append(r.Figures, measure.AtMost("bytes", bytes, "", garbageAtMost))
		} else {
			r.Figures = append(r.Figures, measure.Plain("bytes", bytes, ""))
		}
		rows = append(rows, r)
	}
	return rows, nil
}
