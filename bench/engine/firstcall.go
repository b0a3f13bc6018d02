package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/weft-run/weft/bench/internal/measure"
	"github.com/weft-run/weft/host/wasm/engine"
)

// firstCallAtMost is what a process that was just started may take until the first call has returned, where the compiled
// code is on disk already, in milliseconds.
var firstCallAtMost = map[string]float64{guestC: 10, guestRust: 10, guestAS: 10, guestGo: 60}

// firstCall says which guest to load.
type firstCall struct {
	Guests shelf
	Guest  string
	Cache  string
}

// measureFirstCall reads a guest, makes an engine, loads and calls; it returns the milliseconds of all of it.
func measureFirstCall(ctx context.Context, in firstCall) (took float64, err error) {
	start := time.Now()
	g, err := in.Guests.guest(in.Guest)
	if err != nil {
		return 0, err
	}
	s, err := openWeft(ctx, g, engine.Options{CacheDir: in.Cache}, engine.Spec{})
	if err != nil {
		return 0, err
	}
	_, err = s.call(ctx, "before_run", input)
	took = float64(time.Since(start).Nanoseconds()) / 1e6
	return took, errors.Join(err, s.close(ctx))
}

// firstCallCase has a new process for each sample.
func firstCallCase(ctx context.Context, b *bench) (rows []row, err error) {
	cache, err := os.MkdirTemp("", "weft-bench")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(cache)) }()
	var guests []string
	cold := map[string]float64{}
	for _, name := range guestNames {
		if !b.wanted(cell{kase: "first_call", guest: name, host: hostClean}) {
			continue
		}
		guests = append(guests, name)
		if cold[name], err = measure.Ask[float64](ctx, childFirstCall, firstCall{b.shelf, name, cache}); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	warm := map[string][]float64{}
	for range b.rounds {
		for _, name := range guests {
			took, err := measure.Ask[float64](ctx, childFirstCall, firstCall{b.shelf, name, cache})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			warm[name] = append(warm[name], took)
		}
	}
	for _, name := range guests {
		took := measure.Median(warm[name])
		f := measure.Plain("ms from a warm cache", took, "")
		if target, ok := firstCallAtMost[name]; ok {
			f = measure.AtMost(f.What, took, "", target)
		}
		rows = append(rows, row{
			Case: "first_call", Guest: name, Host: hostClean, Micros: measure.Rounded(took * 1e3),
			Figures: []measure.Figure{f, measure.Plain("ms without a cache", cold[name], "")},
		})
	}
	return rows, nil
}
