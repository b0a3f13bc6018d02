package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/bench/internal/measure"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
)

// How many providers wait how long for a server, and what all of them together may take before the model is called, in
// milliseconds.
const (
	waiting     = 5
	serverTime  = 100 * time.Millisecond
	phaseAtMost = 130
)

// waitsCase is the time from the first before_run to the model's call, where each provider waits for a server: with the
// providers beside each other, and one after the other.
func waitsCase(ctx context.Context, b *bench) ([]row, error) {
	server := httptest.NewServer(http.HandlerFunc(slowly))
	defer server.Close()
	var cells []cell
	for _, guest := range languages {
		for _, kase := range []string{"waits", "waits_sequential"} {
			c := cell{kase: kase, guest: guest}
			if !b.wanted(c) {
				continue
			}
			providers, err := b.waiting(ctx, guest, server.URL)
			if err != nil {
				return nil, err
			}
			agent, err := host.NewAgent(host.AgentConfig{
				Client: script{}, Providers: providers, Logger: quiet, SequentialBeforeRun: kase == "waits_sequential",
			})
			if err != nil {
				return nil, err
			}
			c.sample = func() (float64, error) { return phase(ctx, agent) }
			cells = append(cells, c)
		}
	}
	all, err := b.measure(cells)
	if err != nil {
		return nil, err
	}
	rows := make([]row, len(cells))
	for n, c := range cells {
		rows[n] = c.row(all[n])
		f := measure.Plain("ms before the model", measure.Median(all[n])/1e3, "")
		if c.kase == "waits" {
			f = measure.AtMost(f.What, f.Value, "", phaseAtMost)
		}
		rows[n].Figures = append(rows[n].Figures, f)
	}
	return rows, nil
}

// slowly answers after a while.
func slowly(w http.ResponseWriter, r *http.Request) {
	select {
	case <-time.After(serverTime):
		_, _ = io.WriteString(w, "the server says so") // Who went away is not told.
	case <-r.Context().Done():
	}
}

// waiting are providers that ask the server.
func (b *bench) waiting(ctx context.Context, guest, url string) ([]host.Provider, error) {
	providers := make([]host.Provider, waiting)
	for n := range providers {
		config, err := json.Marshal(map[string]string{"url": url})
		if err != nil {
			return nil, err
		}
		if providers[n], err = b.load(ctx, guest, "waits", wasm.Config{
			SourceID: fmt.Sprintf("%s_waits_%d", guest, n+1), Config: config,
			Grants: wasm.Grants{HTTP: []abi.HTTPGrant{{Origin: url, Private: true}}},
		}); err != nil {
			return nil, err
		}
	}
	return providers, nil
}

// phase makes one run, and returns the microseconds from the first before_run to the model's call.
func phase(ctx context.Context, agent *host.Agent) (float64, error) {
	t := &phaseTracer{}
	if err := runTraced(ctx, agent, agent.CreateSession(""), t); err != nil {
		return 0, err
	}
	if t.first.IsZero() || t.model.IsZero() {
		return 0, errors.New("no provider ran before the model")
	}
	return measure.Micros(t.model.Sub(t.first)), nil
}

// phaseTracer notes when the first before_run begins, and when the model is called.
type phaseTracer struct {
	mu           sync.Mutex
	first, model time.Time
}

// Start notes the beginning of a part.
func (p *phaseTracer) Start(ctx context.Context, t *host.HookTrace) context.Context {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case t.Hook == "before_run" && p.first.IsZero():
		p.first = t.Start
	case t.Hook == "model" && p.model.IsZero():
		p.model = t.Start
	}
	return ctx
}

// End does nothing.
func (*phaseTracer) End(context.Context, *host.HookTrace) {}
