package main

import (
	"context"

	"github.com/weft-run/weft/bench/internal/measure"
)

// histories are the lengths of the conversations that runs are measured with.
var histories = []int{10, 1_000, 10_000}

// runAtMost is what a run with five plugins and one tool round may take, in microseconds, by the messages of its history.
var runAtMost = map[int]float64{10: 250, 10_000: 500}

// runsElsewhere are runs of the same shape in other frameworks, as they were measured on another machine.
var runsElsewhere = []row{
	{Case: "run", Guest: "Python reference", Messages: 10, Micros: 556, Elsewhere: true},
	{Case: "run", Guest: "Python reference", Messages: 10_000, Micros: 109_098, Elsewhere: true},
	{Case: "run", Guest: "adk-go", Messages: 10, Micros: 178, Elsewhere: true},
	{Case: "run", Guest: "adk-go", Messages: 10_000, Micros: 39_627, Elsewhere: true},
}

// runCase is a run with five providers and one tool round: the model calls the tool of one of them.
func runCase(ctx context.Context, b *bench) ([]row, error) {
	var cells []cell
	for _, guest := range guestNames {
		for _, n := range histories {
			c := cell{kase: "run", guest: guest, messages: n}
			if !b.wantedWith(native, c) {
				continue
			}
			agent, err := b.agentOfFive(ctx, guest, script{})
			if err != nil {
				return nil, err
			}
			session, err := b.session(ctx, n)
			if err != nil {
				return nil, err
			}
			c.sample = b.timed(ctx, agent, session)
			cells = append(cells, c)
		}
	}
	all, err := b.measure(cells)
	if err != nil {
		return nil, err
	}
	var rows []row
	for n, c := range cells {
		r := c.row(all[n])
		if to, ok := find(cells, native, c.messages); ok {
			r.Ratio = measure.Rounded(measure.Ratios(all[n], all[to]))
		}
		if target, ok := runAtMost[c.messages]; ok && c.guest != native {
			r.Figures = append(r.Figures, measure.AtMost("µs", r.Micros, "", target))
		}
		rows = append(rows, r)
	}
	for _, r := range runsElsewhere {
		if _, ok := find(cells, native, r.Messages); ok {
			rows = append(rows, r)
		}
	}
	return rows, nil
}
