package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"
)

// histories are the lengths that are measured.
var histories = []int{10, 1_000, 10_000}

// row is one line of the table: medians over the rounds, of one run.
type row struct {
	Framework string  `json:"framework"`
	History   int     `json:"history"`
	Micros    float64 `json:"us"`
	Allocs    int64   `json:"allocs"`
	Bytes     int64   `json:"bytes"`
	// Ratio is the median of the ratios of time to Weft's in the same round.
	Ratio float64 `json:"ratio_to_weft"`
}

// sample is what one run took in one round.
type sample struct {
	micros, allocs, bytes float64
}

// compare measures each framework with each history in each round, the frameworks of one history after one another and in
// another order each time: what else the machine does meets all of them alike.
func compare(ctx context.Context, all []framework, histories []int, rounds int) ([]row, error) {
	samples := make([][][]sample, len(histories)) // by history, framework and round
	for h := range samples {
		samples[h] = make([][]sample, len(all))
	}
	for round := range rounds {
		for h, history := range histories {
			for i := range all {
				n := (round + i) % len(all)
				s, err := measure(ctx, all[n], history)
				if err != nil {
					return nil, fmt.Errorf("%s, history %d: %w", all[n].name, history, err)
				}
				samples[h][n] = append(samples[h][n], s)
			}
		}
	}
	var rows []row
	for h, history := range histories {
		for n, f := range all {
			rows = append(rows, rowOf(f.name, history, samples[h][n], samples[h][0]))
		}
	}
	return rows, nil
}

// rowOf makes a row of the samples of one framework and of Weft's.
func rowOf(name string, history int, samples, wefts []sample) row {
	ratios := make([]float64, len(samples))
	for i, s := range samples {
		ratios[i] = s.micros / wefts[i].micros
	}
	return row{
		Framework: name, History: history,
		Micros: rounded(medianOf(samples, func(s sample) float64 { return s.micros }), 10),
		Allocs: int64(medianOf(samples, func(s sample) float64 { return s.allocs })),
		Bytes:  int64(medianOf(samples, func(s sample) float64 { return s.bytes })),
		Ratio:  rounded(median(ratios), 100),
	}
}

// What a sample takes at least.
const (
	sampleTime = 250 * time.Millisecond
	sampleRuns = 5
)

// measure makes an agent and a session, and runs it again and again for a while. One session is used for all of it, as a
// server's sessions are used again, and the collector runs as often as the garbage of the runs wants it to: its work belongs
// to them. Rewinding is not counted, and neither is the first run.
func measure(ctx context.Context, f framework, history int) (sample, error) {
	a, err := f.open(ctx, &script{})
	if err != nil {
		return sample{}, err
	}
	c, err := a.converse(ctx, history)
	if err != nil {
		return sample{}, err
	}
	if err := errors.Join(once(ctx, c), c.rewind(ctx)); err != nil {
		return sample{}, err
	}
	runtime.GC() // what the one before left behind is not this one's to clear

	// The first pass counts what is allocated, which is the same in each run; looking at that stops the world, so the
	// second pass, which takes the time, does without.
	var all sample
	for range sampleRuns {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := once(ctx, c); err != nil {
			return sample{}, err
		}
		runtime.ReadMemStats(&after)
		if err := c.rewind(ctx); err != nil {
			return sample{}, err
		}
		all.allocs += float64(after.Mallocs-before.Mallocs) / sampleRuns
		all.bytes += float64(after.TotalAlloc-before.TotalAlloc) / sampleRuns
	}

	var took time.Duration
	var runs int
	for ; runs < sampleRuns || took < sampleTime; runs++ {
		start := time.Now()
		if err := once(ctx, c); err != nil {
			return sample{}, err
		}
		took += time.Since(start)
		if err := c.rewind(ctx); err != nil {
			return sample{}, err
		}
	}
	all.micros = float64(took.Nanoseconds()) / 1e3 / float64(runs)
	return all, nil
}

// once runs one turn.
func once(ctx context.Context, c conversation) error {
	answer, err := c.turn(ctx)
	if err == nil && answer != reply {
		err = fmt.Errorf("the answer is %q instead of %q", answer, reply)
	}
	return err
}

func medianOf[T any, V cmp.Ordered](all []T, of func(T) V) V {
	values := make([]V, len(all))
	for i, v := range all {
		values[i] = of(v)
	}
	return median(values)
}

// median is the middle value, the lower one of two.
func median[V cmp.Ordered](values []V) V {
	return slices.Sorted(slices.Values(values))[(len(values)-1)/2]
}

// rounded keeps as many decimals as per has zeros.
func rounded(v, per float64) float64 {
	return float64(int64(v*per+0.5)) / per
}
