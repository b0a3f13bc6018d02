package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"
)

// cell is one case with one guest in one host: what is measured once in each round.
type cell struct {
	kase, guest, host string
	// once makes one call, and fails where its answer is not the right one.
	once func() error
}

func (c cell) id() string { return c.kase + "/" + c.guest + "/" + c.host }

// row is the cell's row, without its ratios.
func (c cell) row(samples []float64) row {
	return row{Case: c.kase, Guest: c.guest, Host: c.host, Micros: rounded(median(samples))}
}

// sampleTime is how long a sample takes at least.
const sampleTime = 20 * time.Millisecond

// measured holds the microseconds of a call of each cell in each round: measured[cell][round].
type measured [][]float64

// measure takes a sample of each cell in each round, in another order each time: what else the machine does meets all of
// them alike.
func measure(rounds int, cells []cell) (measured, error) {
	for _, c := range cells {
		if err := c.once(); err != nil { // The first call of a session prepares things, and is no sample.
			return nil, fmt.Errorf("%s: %w", c.id(), err)
		}
	}
	all := make(measured, len(cells))
	for round := range rounds {
		for _, n := range rand.New(rand.NewPCG(1, uint64(round))).Perm(len(cells)) {
			micros, err := sample(cells[n].once)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", cells[n].id(), err)
			}
			all[n] = append(all[n], micros)
		}
	}
	return all, nil
}

// sample calls again and again for a while, and returns what one call took. The garbage of the calls is collected as often
// as it wants to be: that belongs to them. What was there before is not theirs to clear.
func sample(once func() error) (float64, error) {
	runtime.GC()
	var took time.Duration
	calls, batch := 0, 1
	for took < sampleTime {
		start := time.Now()
		for range batch {
			if err := once(); err != nil {
				return 0, err
			}
		}
		span := time.Since(start)
		took += span
		calls += batch
		if span < time.Millisecond { // so that looking at the clock costs nothing
			batch *= 2
		}
	}
	return micros(took) / float64(calls), nil
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// ratios divides what two cells took, round by round, and returns the median.
func ratios(samples, to []float64) float64 {
	all := make([]float64, len(samples))
	for i := range samples {
		all[i] = samples[i] / to[i]
	}
	return median(all)
}

// median is the middle value, the lower one of two.
func median[V cmp.Ordered](values []V) V {
	return slices.Sorted(slices.Values(values))[(len(values)-1)/2]
}

// rounded keeps three digits that say something, and all of those before the point.
func rounded(v float64) float64 {
	if v == 0 {
		return 0
	}
	per := math.Pow(10, math.Max(0, 2-math.Floor(math.Log10(math.Abs(v)))))
	return math.Round(v*per) / per
}
