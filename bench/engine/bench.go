package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
)

var errOther = errors.New("the answer is not the expected one")

// bench is one run of the benchmark. Sessions stay open between the cases: compiling a Go guest takes seconds.
type bench struct {
	shelf    shelf
	rounds   int
	calls    int
	reloads  int
	only     *regexp.Regexp
	sessions map[sessionKey]session
}

type sessionKey struct{ host, guest string }

// wanted says whether a cell was asked for.
func (b *bench) wanted(c cell) bool { return b.only.MatchString(c.id()) }

// session opens a session, or returns the one that is open.
func (b *bench) session(ctx context.Context, h host, name string) (session, error) {
	key := sessionKey{h.name, name}
	if s, ok := b.sessions[key]; ok {
		return s, nil
	}
	var g guest
	if h.guests {
		var err error
		if g, err = b.shelf.guest(name); err != nil {
			return nil, err
		}
	}
	s, err := h.open(ctx, g)
	if err == nil {
		b.sessions[key] = s
	}
	return s, err
}

// closeWeft closes the sessions of Weft's engine, whose limits differ from case to case.
func (b *bench) closeWeft(ctx context.Context) {
	b.closeThose(ctx, func(k sessionKey) bool { return k.host == hostClean || k.host == hostShared })
}

func (b *bench) close(ctx context.Context) {
	b.closeThose(ctx, func(sessionKey) bool { return true })
}

func (b *bench) closeThose(ctx context.Context, which func(sessionKey) bool) {
	for key, s := range b.sessions {
		if !which(key) {
			continue
		}
		delete(b.sessions, key)
		if err := s.close(ctx); err != nil {
			fmt.Fprintf(os.Stderr, "engine: closing %s/%s: %v\n", key.guest, key.host, err)
		}
	}
}

// cells opens a session for each host and guest that was asked for, and returns their cells. The native function comes with
// any other one, for the ratio.
func (b *bench) cells(ctx context.Context, kase, export string, hosts []host, input, want []byte) ([]cell, error) {
	var cells []cell
	some := false
	for _, h := range hosts {
		names := guestNames
		if !h.guests {
			names = []string{""}
		}
		for _, name := range names {
			c := cell{kase: kase, guest: name, host: h.name}
			wanted := b.wanted(c)
			if !wanted && h.name != hostNative {
				continue
			}
			some = some || wanted
			s, err := b.session(ctx, h, name)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.id(), err)
			}
			c.once = func() error {
				output, err := s.call(ctx, export, input)
				if err == nil && !bytes.Equal(output, want) {
					err = fmt.Errorf("%w: %q", errOther, output)
				}
				return err
			}
			cells = append(cells, c)
		}
	}
	if !some {
		return nil, nil
	}
	return cells, nil
}

// find returns the place of a cell, if it is measured.
func find(cells []cell, kase, guest, host string) (int, bool) {
	for n, c := range cells {
		if c.kase == kase && c.guest == guest && c.host == host {
			return n, true
		}
	}
	return 0, false
}
