package main

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/weft-run/weft/bench/internal/measure"
	"github.com/weft-run/weft/host/wasm/engine"
)

// How much may be added by many calls or reloads, in MiB. The process's own memory moves a little with its collector.
const (
	guestGrowth   = 1
	processGrowth = 8
)

// earlyCalls is when a guest has the memory that it needs.
const earlyCalls = 5_000

// manyCalls says how many calls to make.
type manyCalls struct {
	Guests shelf
	Guest  string
	Shared bool
	Calls  int
}

// manyCallsFound is what guest and process hold after the early calls and after all.
type manyCallsFound struct{ Early, Late callsFound }

type callsFound struct{ Guest, RSS int64 }

// measureManyCalls makes one call after the other.
func measureManyCalls(ctx context.Context, in manyCalls) (found manyCallsFound, err error) {
	g, err := in.Guests.guest(in.Guest)
	if err != nil {
		return found, err
	}
	e := engine.New(engine.Options{})
	defer func() { err = errors.Join(err, e.Close(context.WithoutCancel(ctx))) }()
	m, err := e.Load(ctx, g.wasm, engine.Spec{Name: g.name, Shared: in.Shared})
	if err != nil {
		return found, err
	}
	for n := range in.Calls {
		result, err := m.Call(ctx, engine.Call{Export: "before_run", Input: input})
		if err != nil {
			return found, err
		}
		if n+1 != min(earlyCalls, in.Calls) && n+1 != in.Calls {
			continue
		}
		f, err := measure.TakeFootprint()
		if err != nil {
			return found, err
		}
		found.Late = callsFound{result.Usage.Memory, f.RSS}
		if n+1 == min(earlyCalls, in.Calls) {
			found.Early = found.Late
		}
	}
	return found, nil
}

// manyCallsCase is the memory of a Go guest, which has a collector of its own, over many calls. Both ways to run it go side
// by side: no time is measured.
func manyCallsCase(ctx context.Context, b *bench) ([]row, error) {
	rows := make([]row, 2)
	var group errgroup.Group
	for n, name := range []string{hostClean, hostShared} {
		if !b.wanted(cell{kase: "many_calls", guest: guestGo, host: name}) {
			continue
		}
		group.Go(func() error {
			found, err := measure.Ask[manyCallsFound](ctx, childManyCalls, manyCalls{b.shelf, guestGo, name == hostShared, b.calls})
			early, late := found.Early, found.Late
			rows[n] = row{Case: "many_calls", Guest: guestGo, Host: name, Figures: []measure.Figure{
				measure.Plain("MiB of the guest after "+measure.Number(earlyCalls)+" calls", measure.MiB(early.Guest), ""),
				measure.AtMost("more after "+measure.Number(float64(b.calls)), measure.MiB(late.Guest-early.Guest), "MiB", guestGrowth),
				measure.Plain("MiB of the process", measure.MiB(early.RSS), ""),
				measure.AtMost("more", measure.MiB(late.RSS-early.RSS), "MiB", processGrowth),
			}}
			return err
		})
	}
	err := group.Wait()
	return present(rows), err
}
