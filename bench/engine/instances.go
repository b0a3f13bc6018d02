package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weft-run/weft/bench/internal/measure"
	"github.com/weft-run/weft/host/wasm/engine"
)

// instancesAtMost is what all instances of the guest with the index may hold together, in MiB.
const instancesAtMost = 100

// instanceCount is how many there are.
const instanceCount = 128

// instances says how many to make.
type instances struct {
	Guests shelf
	Count  int
}

// instancesFound is the memory that was taken for one instance that is idle, and for all of them at work.
type instancesFound struct{ One, All measure.Footprint }

// measureInstances has all instances at work at the same time: each holds its call where it logs, until all are there.
func measureInstances(ctx context.Context, in instances) (found instancesFound, err error) {
	g, err := in.Guests.guest(guestIndex)
	if err != nil {
		return found, err
	}
	e := engine.New(engine.Options{Memory: engine.Unlimited})
	defer func() { err = errors.Join(err, e.Close(context.WithoutCancel(ctx))) }()
	before, err := measure.TakeFootprint()
	if err != nil {
		return found, err
	}
	m, err := e.Load(ctx, g.wasm, engine.Spec{
		Name: g.name, Init: &engine.Init{Export: "init"},
		// All of them start at once, on as many cores as there are.
		Limits: engine.Limits{Memory: 64 << 20, Instances: in.Count, Start: time.Minute},
	})
	if err != nil {
		return found, err
	}
	one, err := measure.TakeFootprint()
	if err != nil {
		return found, err
	}
	found.One = one.Less(before)

	group, ctx := errgroup.WithContext(ctx)
	var waiting atomic.Int64
	release := make(chan struct{})
	hold := func(string, string) {
		if waiting.Add(1) < int64(in.Count) {
			select {
			case <-release:
			case <-ctx.Done():
			}
			return
		}
		var all measure.Footprint
		all, err = measure.TakeFootprint()
		found.All = all.Less(before)
		close(release)
	}
	for n := range in.Count {
		group.Go(func() error { return lookUp(ctx, m, uint64(n)*1000, hold) })
	}
	err = errors.Join(group.Wait(), err)
	return found, err
}

// lookUp asks for the value of a key that the index has.
func lookUp(ctx context.Context, m *engine.Module, n uint64, log func(level, text string)) error {
	key := n * 3
	result, err := m.Call(ctx, engine.Call{
		Export: "look_up", Input: binary.LittleEndian.AppendUint64(nil, key), Log: log, Timeout: 5 * time.Minute,
	})
	if err != nil {
		return err
	}
	if len(result.Output) != 8 || binary.LittleEndian.Uint64(result.Output) != scatter(key) {
		return fmt.Errorf("%w: key %d: % x, code %d: %s", errOther, key, result.Output, result.Code, result.Error)
	}
	return nil
}

// scatter is the value of a key in the index, as the guest computes it.
func scatter(n uint64) uint64 {
	n = (n ^ n>>31) * 0x7fb5d329728ea185
	n = (n ^ n>>27) * 0x81dadef4bc2dd44d
	return n ^ n>>33
}

// instancesCase is many instances of a plugin that prepares much.
func instancesCase(ctx context.Context, b *bench) ([]row, error) {
	if !b.wanted(cell{kase: "instances", guest: guestIndex, host: hostClean}) {
		return nil, nil
	}
	found, err := measure.Ask[instancesFound](ctx, childInstances, instances{b.shelf, instanceCount})
	if err != nil {
		return nil, err
	}
	return []row{{Case: "instances", Guest: guestIndex, Host: hostClean, Figures: []measure.Figure{
		measure.AtMost(fmt.Sprintf("%d instances with an index of 50 MB:", instanceCount), measure.MiB(found.All.Own), "MiB", instancesAtMost),
		measure.Plain("RSS", measure.MiB(found.All.RSS), "MiB"),
		measure.Plain("private", measure.MiB(found.All.Private), "MiB"),
		measure.Plain("one, idle:", measure.MiB(found.One.Own), "MiB"),
	}}}, nil
}
