package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/weft-run/weft/bench/internal/measure"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/host/wasm/engine"
)

// childIdle is the first argument of the program where it measures in a process of its own.
const childIdle = "measure-idle"

// runChild does what a child is there for, if the arguments ask for one, and returns the exit code.
func runChild(args []string) (code int, ok bool) {
	if len(args) == 0 || args[0] != childIdle {
		return 0, false
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measure.Answer(ctx, os.Stdout, args, measureIdle); err != nil {
		fmt.Fprintf(os.Stderr, "plugins %s: %v\n", args[0], err)
		return 1, true
	}
	return 0, true
}

// idle says how many plugins to load.
type idle struct {
	Guests shelf
	Guest  string
	Count  int
}

// idleFound is what they take while nobody uses them, and what the first use of one does. Times are microseconds.
type idleFound struct {
	Live, LiveAfter    int // instances, before and after the first use
	Grown              measure.Footprint
	Load, First, Again float64
}

// measureIdle loads one module many times, each with a name and a config of its own, and then uses the last one.
func measureIdle(ctx context.Context, in idle) (found idleFound, err error) {
	module, err := in.Guests.module(in.Guest, "context")
	if err != nil {
		return found, err
	}
	e := engine.New(engine.Options{Logger: quiet})
	defer func() { err = errors.Join(err, e.Close(context.WithoutCancel(ctx))) }()
	plugins := make([]*wasm.Plugin, in.Count)
	load := func(n int) (*wasm.Plugin, error) {
		return wasm.Load(ctx, e, wasm.Config{
			Module: module, SourceID: fmt.Sprintf("context_%d", n), Config: fmt.Appendf(nil, `{"number":%d}`, n), Logger: quiet,
		})
	}
	first, err := load(in.Count) // The code is compiled once for all.
	if err != nil {
		return found, err
	}
	before, err := measure.TakeFootprint()
	if err != nil {
		return found, err
	}
	start := time.Now()
	for n := range plugins {
		if plugins[n], err = load(n); err != nil {
			return found, err
		}
	}
	found.Load = measure.Micros(time.Since(start)) / float64(in.Count)
	after, err := measure.TakeFootprint()
	if err != nil {
		return found, err
	}
	found.Grown, found.Live = after.Less(before), live(plugins)

	agent, err := newAgent(script{}, host.Middleware{}, plugins[in.Count-1])
	if err != nil {
		return found, err
	}
	session := agent.CreateSession("")
	for _, took := range []*float64{&found.First, &found.Again} {
		start := time.Now()
		if err := runOnce(ctx, agent, session); err != nil {
			return found, err
		}
		*took = measure.Micros(time.Since(start))
	}
	found.LiveAfter = live(plugins)
	for _, p := range append(plugins, first) {
		err = errors.Join(err, p.Close(ctx))
	}
	return found, err
}

func live(plugins []*wasm.Plugin) int {
	n := 0
	for _, p := range plugins {
		n += p.Stats().Live
	}
	return n
}

// idleCase is many plugins that are configured and not used.
func idleCase(ctx context.Context, b *bench) ([]row, error) {
	c := cell{kase: "idle", guest: guestC}
	if !b.wanted(c) {
		return nil, nil
	}
	found, err := measure.Ask[idleFound](ctx, childIdle, idle{b.shelf, guestC, b.idle})
	if err != nil {
		return nil, err
	}
	return []row{{Case: c.kase, Guest: c.guest, Figures: []measure.Figure{
		measure.AtMost(fmt.Sprintf("instances of %s plugins:", measure.Number(float64(b.idle))), float64(found.Live), "", 0),
		measure.Plain("RSS more", measure.MiB(found.Grown.RSS), "MiB"),
		measure.Plain("own memory more", measure.MiB(found.Grown.Own), "MiB"),
		measure.Plain("to load one", found.Load, "µs"),
		measure.Plain("first run of one", found.First, "µs"),
		measure.Plain("second run", found.Again, "µs"),
		measure.Plain("instances then", float64(found.LiveAfter), ""),
	}}}, nil
}
