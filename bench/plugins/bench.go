package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"

	"github.com/weft-run/weft/bench/internal/measure"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/host/wasm/engine"
)

// quiet takes what would go to a log.
var quiet = slog.New(slog.DiscardHandler)

// bench is one run of the benchmark. What it opened stays open until its end.
type bench struct {
	settings
	shelf    shelf
	only     *regexp.Regexp
	engine   *engine.Engine
	plugins  []*wasm.Plugin
	sessions map[int]*host.Session // by the number of their messages
}

func newBench(s settings, only *regexp.Regexp) *bench {
	return &bench{
		settings: s, shelf: shelf(s.guests), only: only, engine: engine.New(engine.Options{Logger: quiet}),
		sessions: map[int]*host.Session{},
	}
}

func (b *bench) close(ctx context.Context) error {
	var errs []error
	for _, p := range b.plugins {
		errs = append(errs, p.Close(ctx))
	}
	return errors.Join(append(errs, b.engine.Close(ctx))...)
}

// load loads a guest, until the end.
func (b *bench) load(ctx context.Context, language, guest string, c wasm.Config) (*wasm.Plugin, error) {
	var err error
	if c.Module, err = b.shelf.module(language, guest); err != nil {
		return nil, err
	}
	c.Logger = quiet
	p, err := wasm.Load(ctx, b.engine, c)
	if err == nil {
		b.plugins = append(b.plugins, p)
	}
	return p, err
}

// session is the one session with that many messages. Who uses it leaves no message behind.
func (b *bench) session(ctx context.Context, messages int) (*host.Session, error) {
	if s, ok := b.sessions[messages]; ok {
		return s, nil
	}
	s, err := newSession(ctx, messages)
	if err == nil {
		b.sessions[messages] = s
	}
	return s, err
}

// cell is one case with the plugins of one language, or with none, on a conversation of one length: what is measured once in
// each round.
type cell struct {
	kase, guest string
	messages    int
	// sample measures.
	sample func() (float64, error)
}

func (c cell) id() string { return fmt.Sprintf("%s/%s/%d", c.kase, c.guest, c.messages) }

// row is the cell's row, without its ratios and figures.
func (c cell) row(samples []float64) row {
	return row{Case: c.kase, Guest: c.guest, Messages: c.messages, Micros: measure.Rounded(measure.Median(samples))}
}

// wanted says whether a cell was asked for.
func (b *bench) wanted(c cell) bool { return b.only.MatchString(c.id()) }

// wantedWith says whether a cell was asked for, or is what another one that was asked for is held against.
func (b *bench) wantedWith(against string, c cell) bool {
	if c.guest != against {
		return b.wanted(c)
	}
	return slices.ContainsFunc(append(slices.Clip(guestNames), against), func(guest string) bool {
		c.guest = guest
		return b.wanted(c)
	})
}

// timed makes of one run of an agent a sample of what runs take.
func (b *bench) timed(ctx context.Context, agent *host.Agent, s *host.Session) func() (float64, error) {
	return func() (float64, error) {
		return measure.Sample(b.sample, func() error { return runOnce(ctx, agent, s) })
	}
}

// measure takes a sample of each cell in each round.
func (b *bench) measure(cells []cell) ([][]float64, error) {
	for _, c := range cells {
		if _, err := c.sample(); err != nil { // The first one prepares things, and does not count.
			return nil, fmt.Errorf("%s: %w", c.id(), err)
		}
	}
	return measure.Rounds(b.rounds, len(cells), func(i int) (float64, error) {
		value, err := cells[i].sample()
		if err != nil {
			err = fmt.Errorf("%s: %w", cells[i].id(), err)
		}
		return value, err
	})
}

// find returns the place of a cell, if it is measured.
func find(cells []cell, guest string, messages int) (int, bool) {
	for n, c := range cells {
		if c.guest == guest && c.messages == messages {
			return n, true
		}
	}
	return 0, false
}
