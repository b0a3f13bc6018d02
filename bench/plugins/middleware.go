package main

import (
	"context"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/bench/internal/measure"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
)

// middlewareAtMost is what one more chat middleware may take for each model call, in microseconds.
const middlewareAtMost = 60

// without stands for a run without middleware.
const without = "without"

// middlewareCase is a run of one model call with one chat middleware in Go, and with a plugin inside of that, less the run
// without the plugin. The middleware looks at the number of messages, and lets the rest run once. What the first of them
// takes by itself, whatever it is, since it gets a list of messages of its own, is in both.
func middlewareCase(ctx context.Context, b *bench) ([]row, error) {
	var cells []cell
	for _, guest := range append([]string{without}, guestNames...) {
		for _, n := range []int{10, 10_000} {
			c := cell{kase: "middleware", guest: guest, messages: n}
			if !b.wantedWith(without, c) && !b.wantedWith(native, c) {
				continue
			}
			chat, err := b.chat(ctx, guest)
			if err != nil {
				return nil, err
			}
			agent, err := newAgent(script{}, chat)
			if err != nil {
				return nil, err
			}
			session, err := b.session(ctx, n)
			if err != nil {
				return nil, err
			}
			c.sample = b.timed(ctx, agent, session)
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
		more := func(than string) measure.Figure {
			from, _ := find(cells, than, c.messages)
			return measure.Plain("more than "+than, measure.Differences(all[n], all[from]), "µs")
		}
		switch c.guest {
		case without:
		case native:
			rows[n].Figures = append(rows[n].Figures, more(without))
		default:
			f := more(native)
			rows[n].Figures = append(rows[n].Figures, measure.AtMost(f.What, f.Value, f.Unit, middlewareAtMost))
		}
	}
	return rows, nil
}

// chat is the middleware of a run.
func (b *bench) chat(ctx context.Context, guest string) (host.Middleware, error) {
	inGo := host.Middleware{Chat: []host.ChatMiddleware{nativeChat}}
	switch guest {
	case without:
		return host.Middleware{}, nil
	case native:
		return inGo, nil
	}
	p, err := b.load(ctx, guest, "chat", wasm.Config{
		SourceID: guest + "_chat", Middleware: true, Layer: abi.LayerChat, Grants: wasm.Grants{Read: []string{"request"}},
	})
	if err != nil {
		return host.Middleware{}, err
	}
	inGo.Chat = append(inGo.Chat, p.ForLayer().Chat...)
	return inGo, nil
}
