package main

import (
	"context"
	"slices"
	"time"

	"github.com/weft-run/weft/bench/internal/measure"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
)

// apartAtMost is how many times what a hook takes that fetches ten messages may differ with the length of the history.
const apartAtMost = 1.1

// lastTenCase is the before_run of a provider that fetches the last ten messages of the history: the hook alone, so that what
// the history itself takes does not count.
func lastTenCase(ctx context.Context, b *bench) ([]row, error) {
	var cells []cell
	var whole []*[]float64
	for _, guest := range languages {
		for _, n := range histories {
			c := cell{kase: "last_ten", guest: guest, messages: n}
			if !b.wanted(c) {
				continue
			}
			id := guest + "_last_ten"
			p, err := b.load(ctx, guest, "last_ten", wasm.Config{
				SourceID: id, Grants: wasm.Grants{Read: []string{"context:" + host.DefaultHistoryID}},
			})
			if err != nil {
				return nil, err
			}
			agent, err := newAgent(script{}, host.Middleware{}, p)
			if err != nil {
				return nil, err
			}
			session, err := b.session(ctx, n)
			if err != nil {
				return nil, err
			}
			runs := new([]float64)
			c.sample = func() (float64, error) {
				hook, run, err := hookTime(ctx, agent, session, id, b.sample)
				*runs = append(*runs, run)
				return hook, err
			}
			cells, whole = append(cells, c), append(whole, runs)
		}
	}
	all, err := b.measure(cells)
	if err != nil {
		return nil, err
	}
	rows := make([]row, len(cells))
	medians := map[string][]float64{}
	for n, c := range cells {
		rows[n] = c.row(all[n])
		rows[n].Figures = append(rows[n].Figures, measure.Plain("the whole run", measure.Median(*whole[n]), "µs"))
		medians[c.guest] = append(medians[c.guest], measure.Median(all[n]))
		if some := medians[c.guest]; len(some) == len(histories) {
			rows[n].Figures = append(rows[n].Figures, measure.AtMost("times apart", slices.Max(some)/slices.Min(some), "", apartAtMost))
		}
	}
	return rows, nil
}

// hookTime runs the agent for a while, and returns the microseconds of one provider's before_run, the median of all, and of a
// run.
func hookTime(ctx context.Context, agent *host.Agent, s *host.Session, sourceID string, while time.Duration) (hook, whole float64, err error) {
	var took []time.Duration
	tracer := host.TraceFunc(func(_ context.Context, t host.HookTrace) {
		if t.Hook == "before_run" && t.SourceID == sourceID {
			took = append(took, t.Duration)
		}
	})
	whole, err = measure.Sample(while, func() error { return runTraced(ctx, agent, s, tracer) })
	if err != nil {
		return 0, 0, err
	}
	return measure.Micros(measure.Median(took)), whole, nil
}
