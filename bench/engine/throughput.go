package main

import (
	"context"
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weft-run/weft/bench/internal/measure"
)

// twoAtLeast is how much more two cores do than one.
const twoAtLeast = 1.8

// throughputTime is how long calls are counted.
const throughputTime = 100 * time.Millisecond

// throughputCase counts the clean calls of before_run that one goroutine makes, and two. How often the native function is
// called beside it says what the machine has to give.
func throughputCase(ctx context.Context, b *bench) ([]row, error) {
	want, err := beforeRun(input)
	if err != nil {
		return nil, err
	}
	two := []host{hosts()[0], wasmHosts(hosts())[0]} // native and clean
	cells, err := b.cells(ctx, "throughput", "before_run", two, input, want)
	if err != nil {
		return nil, err
	}
	type found struct{ one, two, gain []float64 }
	all := make([]found, len(cells))
	for range b.rounds {
		for n, c := range cells {
			first, err := rate(c.once, 1)
			if err != nil {
				return nil, err
			}
			second, err := rate(c.once, 2)
			if err != nil {
				return nil, err
			}
			f := &all[n]
			f.one, f.two, f.gain = append(f.one, first), append(f.two, second), append(f.gain, second/first)
		}
	}
	rows := make([]row, len(cells))
	for n, c := range cells {
		rows[n] = row{Case: c.kase, Guest: c.guest, Host: c.host, Figures: []measure.Figure{
			measure.Plain("calls a second with one goroutine", math.Round(measure.Median(all[n].one)), ""),
			measure.Plain("with two", math.Round(measure.Median(all[n].two)), ""),
		}}
		gain := measure.Plain("times as many:", measure.Median(all[n].gain), "")
		if c.host == hostNative {
			rows[n].Figures = append(rows[n].Figures, gain)
			continue
		}
		gain = measure.AtLeast(gain.What, gain.Value, "", twoAtLeast)
		rows[n].Figures = append(rows[n].Figures, gain)
		if native, ok := find(cells, c.kase, "", hostNative); ok {
			rows[n].Figures = append(rows[n].Figures, measure.Plain("of native's gain:", measure.Ratios(all[n].gain, all[native].gain), ""))
		}
	}
	return rows, nil
}

// rate returns how many calls a second that many goroutines make.
func rate(once func() error, goroutines int) (float64, error) {
	runtime.GC()
	var calls atomic.Int64
	var group errgroup.Group
	start := time.Now()
	for range goroutines {
		group.Go(func() error {
			n := int64(0)
			defer func() { calls.Add(n) }()
			for time.Since(start) < throughputTime {
				if err := once(); err != nil {
					return err
				}
				n++
			}
			return nil
		})
	}
	err := group.Wait()
	return float64(calls.Load()) / time.Since(start).Seconds(), err
}
