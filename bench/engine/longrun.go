package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/weft-run/weft/host/wasm/engine"
)

// How much may be added by what goes on for long, in MiB. The process's own memory moves a little with its collector.
const (
	guestGrowth   = 1
	processGrowth = 8
)

// earlyCalls is when a guest has what it needs, and reloadsBefore when a host has.
const (
	earlyCalls    = 5_000
	reloadsBefore = 50
)

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
		f, err := takeFootprint()
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
			found, err := ask[manyCallsFound](ctx, childManyCalls, manyCalls{b.shelf, guestGo, name == hostShared, b.calls})
			early, late := found.Early, found.Late
			rows[n] = row{Case: "many_calls", Guest: guestGo, Host: name, Figures: []figure{
				plain("MiB of the guest after "+number(earlyCalls)+" calls", mib(early.Guest), ""),
				atMost("more after "+number(float64(b.calls)), mib(late.Guest-early.Guest), "MiB", guestGrowth),
				plain("MiB of the process", mib(early.RSS), ""),
				atMost("more", mib(late.RSS-early.RSS), "MiB", processGrowth),
			}}
			return err
		})
	}
	err := group.Wait()
	return present(rows), err
}

// reload says how often to load a module, and whether it is another one each time.
type reload struct {
	Guests  shelf
	Guest   string
	Reloads int
	Changed bool
}

// reloadFound is what the process has before and after.
type reloadFound struct{ Before, After reloadState }

type reloadState struct {
	Goroutines, Descriptors int
	RSS                     int64
}

// measureReload loads, calls and closes a module again and again in one engine.
func measureReload(ctx context.Context, in reload) (found reloadFound, err error) {
	g, err := in.Guests.guest(in.Guest)
	if err != nil {
		return found, err
	}
	e := engine.New(engine.Options{})
	defer func() { err = errors.Join(err, e.Close(context.WithoutCancel(ctx))) }()
	for n := range reloadsBefore + in.Reloads {
		if n == reloadsBefore {
			if found.Before, err = takeReloadState(); err != nil {
				return found, err
			}
		}
		wasm := g.wasm
		if in.Changed {
			wasm = numbered(wasm, n)
		}
		if err := loadAndCall(ctx, e, wasm, g.name); err != nil {
			return found, fmt.Errorf("reload %d: %w", n, err)
		}
	}
	found.After, err = takeReloadState()
	return found, err
}

func loadAndCall(ctx context.Context, e *engine.Engine, wasm []byte, name string) error {
	m, err := e.Load(ctx, wasm, engine.Spec{Name: name})
	if err != nil {
		return err
	}
	_, err = m.Call(ctx, engine.Call{Export: "before_run", Input: input})
	return errors.Join(err, m.Close(ctx))
}

// numbered is the module with a number in a section of its own: it does the same, and is another one.
func numbered(wasm []byte, n int) []byte {
	content := binary.LittleEndian.AppendUint64([]byte("\x06number"), uint64(n))
	out := append([]byte(nil), wasm...)
	out = append(out, 0, byte(len(content)))
	return append(out, content...)
}

func takeReloadState() (reloadState, error) {
	f, err := takeFootprint()
	if err != nil {
		return reloadState{}, err
	}
	open, err := descriptors()
	return reloadState{runtime.NumGoroutine(), open, f.RSS}, err
}

// reloadCase is a module that is loaded, called and closed again and again: the same file, and a changed one.
func reloadCase(ctx context.Context, b *bench) ([]row, error) {
	rows := make([]row, 2)
	var group errgroup.Group
	for n, kase := range []string{"reload_same", "reload_changed"} {
		if !b.wanted(cell{kase: kase, guest: guestC, host: hostClean}) {
			continue
		}
		group.Go(func() error {
			found, err := ask[reloadFound](ctx, childReload, reload{b.shelf, guestC, b.reloads, kase == "reload_changed"})
			before, after := found.Before, found.After
			rows[n] = row{Case: kase, Guest: guestC, Host: hostClean, Figures: []figure{
				atMost("goroutines more after "+number(float64(b.reloads)), float64(after.Goroutines-before.Goroutines), "", 0),
				atMost("descriptors more", float64(after.Descriptors-before.Descriptors), "", 0),
				plain("MiB of the process", mib(before.RSS), ""),
				atMost("more", mib(after.RSS-before.RSS), "MiB", processGrowth),
			}}
			return err
		})
	}
	err := group.Wait()
	return present(rows), err
}

// present leaves out the rows that were not measured.
func present(rows []row) []row {
	var out []row
	for _, r := range rows {
		if r.Case != "" {
			out = append(out, r)
		}
	}
	return out
}
