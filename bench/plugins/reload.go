package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/bench/internal/measure"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/message"
)

// How often a new version arrives, and how many times longer the slowest runs may take meanwhile.
const (
	reloadEvery   = 100 * time.Millisecond
	slowestAtMost = 2
)

// modelTime is how long the model takes. With one that takes none the processors are never free, and the slowest runs are
// those that Go's scheduler leaves waiting, for up to ten milliseconds at a time, whatever else there is to do.
const modelTime = 5 * time.Millisecond

// versionsID is the source id of the plugin that is replaced.
const versionsID = "versions"

// errMixed is a run that met two versions.
var errMixed = errors.New("a run met two versions of a plugin")

// reloadCase has many sessions run all the time, at first with one version of a plugin, then with a new one every 100 ms. Each
// run calls the model twice. The plugin stamps what it adds, its tool's result and its state, and what a run sees of it must be of one version.
func reloadCase(ctx context.Context, b *bench) (rows []row, err error) {
	c := cell{kase: "reload", guest: guestC, messages: sessionMessages}
	if !b.wanted(c) {
		return nil, nil
	}
	module, err := b.shelf.module(guestC, versionsID)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "weft-bench")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	r := &releases{path: filepath.Join(folder, versionsID+".wasm"), module: module}
	if err := r.publish(); err != nil {
		return nil, err
	}
	if r.plugin, err = wasm.Load(ctx, b.engine, wasm.Config{Path: r.path, SourceID: versionsID, Grants: addsTools, Logger: quiet}); err != nil {
		return nil, err
	}
	b.plugins = append(b.plugins, r.plugin)

	sessions, err := manySessions(ctx)
	if err != nil {
		return nil, err
	}
	t := &traffic{sessions: sessions}
	if t.agent, err = newAgent(script{saw: t.look, takes: modelTime}, host.Middleware{}, r.plugin); err != nil {
		return nil, err
	}
	calm, err := t.drive(ctx, passed(b.reload/2))
	if err != nil {
		return nil, err
	}
	release, stop := context.WithCancel(ctx)
	released := make(chan error, 1)
	go func() { released <- r.keepOn(release) }()
	over := passed(b.reload)
	busy, err := t.drive(ctx, func() bool { return over() && (r.taken.Load() > 0 || len(released) > 0) })
	stop()
	if err := errors.Join(err, <-released); err != nil {
		return nil, err
	}
	calmSlowest, busySlowest := percentile(calm.took, 99), percentile(busy.took, 99)
	return []row{{Case: c.kase, Guest: c.guest, Messages: c.messages, Micros: measure.Rounded(measure.Median(busy.took)), Figures: []measure.Figure{
		measure.Plain("versions", float64(r.version), ""),
		measure.Plain("met by runs", float64(t.met()), ""),
		measure.Plain("ms to take one over", measure.Median(r.took)/1e3, ""),
		measure.Plain("runs", float64(len(busy.took)), ""),
		measure.AtMost("failed", float64(calm.failed+busy.failed), "", 0),
		measure.AtMost("with two versions", float64(calm.mixed+busy.mixed), "", 0),
		measure.Plain("ms of the 99th percentile", busySlowest/1e3, ""),
		measure.AtMost("times that without", busySlowest/calmSlowest, "", slowestAtMost),
	}}}, firstOf(calm.first, busy.first)
}

// firstOf is the first error, for a count alone does not say what happened.
func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return fmt.Errorf("the first run that failed: %w", err)
		}
	}
	return nil
}

// releases are the versions of a plugin's file.
type releases struct {
	path    string
	module  []byte
	plugin  *wasm.Plugin
	version int
	taken   atomic.Int64 // how many took over
	took    []float64    // microseconds until each served
}

// stamp is what stands in the built module where the version goes.
var stamp = []byte("version-00000000")

// publish puts the next version in the file's place.
func (r *releases) publish() error {
	if bytes.Count(r.module, stamp) != 1 {
		return fmt.Errorf("guest %s has no place for its version", versionsID)
	}
	r.version++
	next := fmt.Sprintf("version-%08d", r.version)
	aside := r.path + ".new"
	if err := os.WriteFile(aside, bytes.Replace(r.module, stamp, []byte(next), 1), 0o600); err != nil {
		return err
	}
	return os.Rename(aside, r.path)
}

// keepOn publishes a version again and again, until ctx is over.
func (r *releases) keepOn(ctx context.Context) error {
	tick := time.NewTicker(reloadEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := r.publish(); err != nil {
			return err
		}
		start := time.Now()
		if changed, err := r.plugin.Reload(ctx); err != nil || !changed {
			if ctx.Err() != nil {
				return nil
			}
			return errors.Join(err, fmt.Errorf("version %d was not taken over", r.version))
		}
		r.took = append(r.took, measure.Micros(time.Since(start)))
		r.taken.Add(1)
	}
}

// traffic is sessions that run all the time.
type traffic struct {
	agent    *host.Agent
	sessions []*host.Session
	versions sync.Map // that runs met
}

// driven is what became of the runs of a while: the microseconds of each, how many failed, and why the first did.
type driven struct {
	took          []float64
	failed, mixed int64
	first         error
}

// passed says whether a time has passed since.
func passed(while time.Duration) func() bool {
	start := time.Now()
	return func() bool { return time.Since(start) >= while }
}

// drive runs all sessions until it is over, and each once at least.
func (t *traffic) drive(ctx context.Context, over func() bool) (driven, error) {
	var d driven
	var mu sync.Mutex
	var failed, mixed atomic.Int64
	err := eachSession(t.sessions, func(s *host.Session) error {
		var took []float64
		for first := true; ctx.Err() == nil && (first || !over()); first = false {
			began := time.Now()
			err := runOnce(ctx, t.agent, s)
			took = append(took, measure.Micros(time.Since(began)))
			if err == nil {
				continue
			}
			if conflict, ok := errors.AsType[*abi.Error](err); errors.Is(err, errMixed) || ok && conflict.Code == abi.CodeConflict {
				mixed.Add(1)
			} else {
				failed.Add(1)
			}
			mu.Lock()
			if d.first == nil {
				d.first = err
			}
			mu.Unlock()
		}
		mu.Lock()
		defer mu.Unlock()
		d.took = append(d.took, took...)
		return ctx.Err()
	})
	d.failed, d.mixed = failed.Load(), mixed.Load()
	return d, err
}

// look holds what a model call sees of the plugin together: the message that it added, and the result of its tool.
func (t *traffic) look(r *host.ChatRequest) error {
	last := r.Messages[len(r.Messages)-1]
	if last.Role != message.RoleTool {
		return nil
	}
	result, ok := last.Contents[0].(message.FunctionResult)
	var ofTool string
	if !ok || json.Unmarshal(result.Result, &ofTool) != nil {
		return fmt.Errorf("%w: %v", errOther, last.Contents[0])
	}
	at := slices.IndexFunc(r.Messages, func(m *message.Message) bool { return m.SourceID == versionsID })
	if at < 0 {
		return fmt.Errorf("%w: the plugin added no message", errOther)
	}
	if added := r.Messages[at].Text(); added != ofTool {
		return fmt.Errorf("%w: its message is of %q, its tool says %q", errMixed, added, ofTool)
	}
	t.versions.Store(ofTool, true)
	return nil
}

// met is how many versions runs met.
func (t *traffic) met() int {
	n := 0
	t.versions.Range(func(any, any) bool {
		n++
		return true
	})
	return n
}

// percentile is the value that so many of a hundred are not above.
func percentile(values []float64, of int) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)*of/100]
}
