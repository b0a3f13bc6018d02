package measure

import (
	"cmp"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"
)

// Rounds takes a sample of each of n things in each round, in another order each time: what else the machine does meets
// all of them alike. What it returns is by thing and round.
func Rounds(rounds, n int, sample func(i int) (float64, error)) ([][]float64, error) {
	all := make([][]float64, n)
	for round := range rounds {
		for _, i := range rand.New(rand.NewPCG(1, uint64(round))).Perm(n) {
			value, err := sample(i)
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], value)
		}
	}
	return all, nil
}

// Sample calls once again and again for at least a while, and returns the microseconds that one call took. The garbage of
// the calls is collected as often as it wants to be: that belongs to them. What was there before is not theirs to clear.
func Sample(atLeast time.Duration, once func() error) (float64, error) {
	runtime.GC()
	var took time.Duration
	calls, batch := 0, 1
	for took < atLeast {
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
	return Micros(took) / float64(calls), nil
}

// Micros is a time in microseconds.
func Micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// Ratios divides what two things took, round by round, and returns the median.
func Ratios(samples, to []float64) float64 {
	all := make([]float64, len(samples))
	for i := range samples {
		all[i] = samples[i] / to[i]
	}
	return Median(all)
}

// Differences subtracts what two things took, round by round, and returns the median.
func Differences(samples, from []float64) float64 {
	all := make([]float64, len(samples))
	for i := range samples {
		all[i] = samples[i] - from[i]
	}
	return Median(all)
}

// Median is the middle value, the lower one of two.
func Median[V cmp.Ordered](values []V) V {
	return slices.Sorted(slices.Values(values))[(len(values)-1)/2]
}

// Rounded keeps three digits that say something, and all of those before the point.
func Rounded(v float64) float64 {
	if v == 0 {
		return 0
	}
	per := math.Pow(10, math.Max(0, 2-math.Floor(math.Log10(math.Abs(v)))))
	return math.Round(v*per) / per
}
