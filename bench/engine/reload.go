package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/weft-run/weft/bench/internal/measure"
	"github.com/weft-run/weft/host/wasm/engine"
)

// reloadsBefore is when a host has the memory that it needs.
const reloadsBefore = 50

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
	f, err := measure.TakeFootprint()
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
			found, err := measure.Ask[reloadFound](ctx, childReload, reload{b.shelf, guestC, b.reloads, kase == "reload_changed"})
			before, after := found.Before, found.After
			rows[n] = row{Case: kase, Guest: guestC, Host: hostClean, Figures: []measure.Figure{
				measure.AtMost("goroutines more after "+measure.Number(float64(b.reloads)), float64(after.Goroutines-before.Goroutines), "", 0),
				measure.AtMost("descriptors more", float64(after.Descriptors-before.Descriptors), "", 0),
				measure.Plain("MiB of the process", measure.MiB(before.RSS), ""),
				measure.AtMost("more", measure.MiB(after.RSS-before.RSS), "MiB", processGrowth),
			}}
			return err
		})
	}
	err := group.Wait()
	return present(rows), err
}

// descriptors counts the open files of this process.
func descriptors() (int, error) {
	entries, err := os.ReadDir("/proc/self/fd")
	return len(entries), err
}
