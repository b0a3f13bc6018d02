package main

import (
	"bytes"
	"context"

	"github.com/weft-run/weft/bench/internal/measure"
	"github.com/weft-run/weft/host/wasm/engine"
)

// What one call of before_run may take, as a multiple of the native function.
var ratioAtMost = map[string]map[string]float64{
	hostShared: {guestC: 1.1, guestRust: 1.8, guestAS: 2.4, guestGo: 8},
	hostClean:  {guestC: 1.8, guestRust: 2.6, guestAS: 4, guestGo: 14},
}

// How many times faster a clean call of before_run is to be than others.
var (
	fasterThanSDK  = map[string]float64{guestC: 8, guestRust: 7, guestAS: 7, guestGo: 4}
	fasterThanGRPC = map[string]float64{guestC: 6, guestRust: 4, guestAS: 3, guestGo: 1}
)

// What a call may take of what Extism's SDK takes.
const (
	noopOfSDK = 1.0 / 15
	echoOfSDK = 1.0 / 8
)

// beforeRunCase is the work in every guest and every host.
func beforeRunCase(ctx context.Context, b *bench) ([]row, error) {
	want, err := beforeRun(input)
	if err != nil {
		return nil, err
	}
	cells, err := b.cells(ctx, "before_run", "before_run", hosts(), input, want)
	if err != nil {
		return nil, err
	}
	all, err := measureCells(b.rounds, cells)
	if err != nil {
		return nil, err
	}
	rows := make([]row, len(cells))
	for n, c := range cells {
		rows[n] = c.row(all[n])
		if native, ok := find(cells, c.kase, "", hostNative); ok {
			rows[n].Ratio = measure.Rounded(measure.Ratios(all[n], all[native]))
			if target, ok := ratioAtMost[c.host][c.guest]; ok {
				rows[n].Figures = append(rows[n].Figures, measure.AtMost("x native", rows[n].Ratio, "", target))
			}
		}
		if c.host != hostClean {
			continue
		}
		if sdk, ok := find(cells, c.kase, c.guest, hostSDKTimeout); ok && fasterThanSDK[c.guest] > 0 {
			rows[n].Figures = append(rows[n].Figures,
				measure.AtLeast("times faster than go-sdk with a timeout:", measure.Ratios(all[sdk], all[n]), "", fasterThanSDK[c.guest]))
		}
		if peer, ok := find(cells, c.kase, "", hostGRPC); ok && fasterThanGRPC[c.guest] > 0 {
			rows[n].Figures = append(rows[n].Figures,
				measure.AtLeast("times faster than go-plugin:", measure.Ratios(all[peer], all[n]), "", fasterThanGRPC[c.guest]))
		}
	}
	return rows, nil
}

// noopCase is a call of a function that returns at once.
func noopCase(ctx context.Context, b *bench) ([]row, error) {
	return b.beside(ctx, "noop", "noop", wasmHosts(hosts()), nil, noopOfSDK)
}

// echoCase is bytes that go into a guest and come back.
func echoCase(ctx context.Context, b *bench) ([]row, error) {
	open := func(spec engine.Spec) func(context.Context, guest) (session, error) {
		return func(ctx context.Context, g guest) (session, error) { return openWeft(ctx, g, engine.Options{}, spec) }
	}
	all := wasmHosts(hosts())
	for n := range all {
		switch all[n].name {
		case hostClean:
			all[n].open = open(engine.Spec{Limits: raised})
		case hostShared:
			all[n].open = open(engine.Spec{Limits: raised, Shared: true})
		}
	}
	defer b.closeWeft(ctx)
	b.closeWeft(ctx) // the sessions that have the default limits
	var rows []row
	for _, size := range []struct {
		kase  string
		bytes int
		ofSDK float64
	}{{"echo 1 KiB", 1 << 10, 0}, {"echo 64 KiB", 64 << 10, 0}, {"echo 1 MiB", 1 << 20, echoOfSDK}} {
		text := bytes.Repeat([]byte("0123456789abcdef"), size.bytes/16)
		some, err := b.beside(ctx, size.kase, "echo", all, text, size.ofSDK)
		if err != nil {
			return nil, err
		}
		rows = append(rows, some...)
	}
	return rows, nil
}

// beside measures an export that gives back what it gets in the hosts that run guests, and holds Weft's time against that
// of Extism's SDK without a timeout; ofSDK is what it may be of it, 0 where there is no target.
func (b *bench) beside(ctx context.Context, kase, export string, hosts []host, input []byte, ofSDK float64) ([]row, error) {
	cells, err := b.cells(ctx, kase, export, hosts, input, input)
	if err != nil {
		return nil, err
	}
	all, err := measureCells(b.rounds, cells)
	if err != nil {
		return nil, err
	}
	rows := make([]row, len(cells))
	for n, c := range cells {
		rows[n] = c.row(all[n])
		sdk, ok := find(cells, kase, c.guest, hostSDK)
		if !ok || c.host != hostClean && c.host != hostShared {
			continue
		}
		f := measure.Plain("times faster than go-sdk:", measure.Ratios(all[sdk], all[n]), "")
		if ofSDK > 0 {
			f = measure.AtLeast(f.What, f.Value, "", 1/ofSDK)
		}
		rows[n].Figures = append(rows[n].Figures, f)
	}
	return rows, nil
}
