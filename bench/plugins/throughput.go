package main

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/bench/internal/measure"
	"github.com/weft-run/weft/host"
)

// How many runs a second plugins are to allow for, over how many sessions on how many processors.
const (
	runsAtLeast     = 6_000
	sessionCount    = 64
	processors      = 2
	sessionMessages = 10
)

// throughputCase counts the runs a second, of the same shape as in the case run, over many sessions at once.
func throughputCase(ctx context.Context, b *bench) ([]row, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
	sessions, err := manySessions(ctx)
	if err != nil {
		return nil, err
	}
	var cells []cell
	var cpu []*[]float64
	for _, guest := range guestNames {
		c := cell{kase: "throughput", guest: guest, messages: sessionMessages}
		if !b.wantedWith(native, c) {
			continue
		}
		agent, err := b.agentOfFive(ctx, guest, script{})
		if err != nil {
			return nil, err
		}
		used := new([]float64)
		c.sample = func() (float64, error) {
			perSecond, micros, err := rate(ctx, agent, sessions, 5*b.sample)
			*used = append(*used, micros)
			return perSecond, err
		}
		cells, cpu = append(cells, c), append(cpu, used)
	}
	all, err := b.measure(cells)
	if err != nil {
		return nil, err
	}
	rows := make([]row, len(cells))
	for n, c := range cells {
		perSecond := math.Round(measure.Median(all[n]))
		f := measure.Plain("runs a second", perSecond, "")
		if c.guest != native {
			f = measure.AtLeast(f.What, perSecond, "", runsAtLeast)
		}
		rows[n] = row{Case: c.kase, Guest: c.guest, Messages: c.messages, Figures: []measure.Figure{f}}
		if used := measure.Median(*cpu[n]); used > 0 {
			rows[n].Figures = append(rows[n].Figures, measure.Plain("processor time of one", used, "µs"))
		}
		if to, ok := find(cells, native, c.messages); ok {
			rows[n].Ratio = measure.Rounded(measure.Ratios(all[to], all[n])) // of time
		}
	}
	return rows, nil
}

func manySessions(ctx context.Context) ([]*host.Session, error) {
	sessions := make([]*host.Session, sessionCount)
	for n := range sessions {
		var err error
		if sessions[n], err = newSession(ctx, sessionMessages); err != nil {
			return nil, err
		}
	}
	return sessions, nil
}

// rate runs the agent in all sessions at once for a while, and returns how many runs there were a second, and how many
// microseconds of processor time one took, if that is known.
func rate(ctx context.Context, agent *host.Agent, sessions []*host.Session, while time.Duration) (perSecond, used float64, err error) {
	runtime.GC()
	var runs atomic.Int64
	start, before := time.Now(), measure.CPU()
	err = eachSession(sessions, func(s *host.Session) error {
		for { // once at least: on a busy machine the while may be over before a session's turn comes
			if err := runOnce(ctx, agent, s); err != nil {
				return err
			}
			runs.Add(1)
			if time.Since(start) >= while {
				return nil
			}
		}
	})
	n := float64(runs.Load())
	return n / time.Since(start).Seconds(), measure.Micros(measure.CPU()-before) / n, err
}

// eachSession does something in all sessions at once, and returns the first error.
func eachSession(sessions []*host.Session, work func(*host.Session) error) error {
	var wg sync.WaitGroup
	var once sync.Once
	var first error
	for _, s := range sessions {
		wg.Go(func() {
			if err := work(s); err != nil {
				once.Do(func() { first = err })
			}
		})
	}
	wg.Wait()
	return first
}
