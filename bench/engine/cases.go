package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// kase is one thing that is measured.
type kase struct {
	name string
	run  func(ctx context.Context, b *bench) ([]row, error)
}

// cases are all that is measured, in the order of the table.
func cases() []kase {
	return []kase{
		{"before_run", beforeRunCase},
		{"noop", noopCase},
		{"echo", echoCase},
		{"garbage", garbageCase},
		{"throughput", throughputCase},
		{"first_call", firstCallCase},
		{"endless_loop", endlessLoopCase},
		{"recursion", recursionCase},
		{"instances", instancesCase},
		{"many_calls", manyCallsCase},
		{"reload", reloadCase},
	}
}

func caseNames() []string {
	var names []string
	for _, c := range cases() {
		names = append(names, c.name)
	}
	return names
}

// chosen returns the cases of a list of names with commas between them, or all for an empty one.
func chosen(list string) ([]kase, error) {
	all := cases()
	if list == "" {
		return all, nil
	}
	var out []kase
	for name := range strings.SplitSeq(list, ",") {
		found := false
		for _, c := range all {
			if c.name == name {
				out = append(out, c)
				found = true
			}
		}
		if !found {
			return nil, fmt.Errorf("-case: no case %q: there are %s", name, strings.Join(caseNames(), ", "))
		}
	}
	return out, nil
}

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

// wanted says whether a cell was asked for. The native function is measured with every other one, for the ratio.
func (b *bench) wanted(c cell) bool { return c.host == hostNative || b.only.MatchString(c.id()) }

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
