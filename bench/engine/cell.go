package main

import (
	"fmt"
	"time"

	"github.com/weft-run/weft/bench/internal/measure"
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
	return row{Case: c.kase, Guest: c.guest, Host: c.host, Micros: measure.Rounded(measure.Median(samples))}
}

// sampleTime is how long a sample takes at least.
const sampleTime = 20 * time.Millisecond

// measureCells takes a sample of each cell in each round. What it returns is the microseconds of a call, by cell and round.
func measureCells(rounds int, cells []cell) ([][]float64, error) {
	for _, c := range cells {
		if err := c.once(); err != nil { // The first call of a session prepares things, and is no sample.
			return nil, fmt.Errorf("%s: %w", c.id(), err)
		}
	}
	return measure.Rounds(rounds, len(cells), func(i int) (float64, error) {
		micros, err := measure.Sample(sampleTime, cells[i].once)
		if err != nil {
			err = fmt.Errorf("%s: %w", cells[i].id(), err)
		}
		return micros, err
	})
}
