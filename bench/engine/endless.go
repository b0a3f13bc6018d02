package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/weft-run/weft/bench/internal/measure"
	"github.com/weft-run/weft/host/wasm/engine"
)

// What guests that never come back may take, in milliseconds.
const (
	loopBudget       = 100
	loopAtMost       = 150
	collectionAtMost = 30
	recursionAtMost  = 500
)

// endlessTimes is how often each is tried; the worst counts.
const endlessTimes = 5

// endless says which function never comes back, and how long it may try.
type endless struct {
	Guests        shelf
	Guest, Export string
	// Milliseconds is how long a call may run; 0 means the default of the engine.
	Milliseconds, Times int
	// Collect has garbage collected beside the call.
	Collect bool
}

// endlessFound holds milliseconds, one for each time: when the call ended, and the longest collection beside it, if any.
type endlessFound struct{ Ended, Collected []float64 }

// measureEndless calls the function, perhaps while the collector runs again and again in another goroutine.
func measureEndless(ctx context.Context, in endless) (found endlessFound, err error) {
	g, err := in.Guests.guest(in.Guest)
	if err != nil {
		return found, err
	}
	e := engine.New(engine.Options{})
	defer func() { err = errors.Join(err, e.Close(context.WithoutCancel(ctx))) }()
	m, err := e.Load(ctx, g.wasm, engine.Spec{Name: g.name})
	if err != nil {
		return found, err
	}
	for range in.Times {
		over, collected := make(chan struct{}), make(chan float64, 1)
		if in.Collect {
			go func() { collected <- collectUntil(over) }()
		}
		start := time.Now()
		_, err := m.Call(ctx, engine.Call{Export: in.Export, Timeout: time.Duration(in.Milliseconds) * time.Millisecond})
		ended := measure.Micros(time.Since(start)) / 1e3
		close(over)
		if err == nil {
			return found, fmt.Errorf("%s came back", in.Export)
		}
		found.Ended = append(found.Ended, ended)
		if in.Collect {
			found.Collected = append(found.Collected, <-collected)
		}
	}
	return found, nil
}

// collectUntil collects garbage every ten milliseconds, and returns the longest time that it took, in milliseconds.
func collectUntil(over <-chan struct{}) float64 {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	var worst time.Duration
	for {
		select {
		case <-over:
			return measure.Micros(worst) / 1e3
		case <-tick.C:
			start := time.Now()
			runtime.GC()
			worst = max(worst, time.Since(start))
		}
	}
}

// endlessLoopCase is a guest that loops without end and has 100 ms.
func endlessLoopCase(ctx context.Context, b *bench) ([]row, error) {
	if !b.wanted(cell{kase: "endless_loop", guest: guestSpin, host: hostClean}) {
		return nil, nil
	}
	found, err := measure.Ask[endlessFound](ctx, childEndless, endless{b.shelf, guestSpin, "spin", loopBudget, endlessTimes, true})
	if err != nil {
		return nil, err
	}
	return []row{{Case: "endless_loop", Guest: guestSpin, Host: hostClean, Figures: []measure.Figure{
		measure.AtMost("ms until it ends, of 100 ms", slices.Max(found.Ended), "", loopAtMost),
		measure.AtMost("ms of a collection beside it", slices.Max(found.Collected), "", collectionAtMost),
	}}}, nil
}

// recursionCase is a Go guest that calls itself without end and has the default time.
func recursionCase(ctx context.Context, b *bench) ([]row, error) {
	if !b.wanted(cell{kase: "recursion", guest: guestGo, host: hostClean}) {
		return nil, nil
	}
	found, err := measure.Ask[endlessFound](ctx, childEndless, endless{b.shelf, guestGo, "recurse", 0, endlessTimes, false})
	if err != nil {
		return nil, err
	}
	return []row{{Case: "recursion", Guest: guestGo, Host: hostClean, Figures: []measure.Figure{
		measure.AtMost("ms until it ends, of 2 s", slices.Max(found.Ended), "", recursionAtMost),
	}}}, nil
}
