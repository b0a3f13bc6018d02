// Command engine measures what a call of a plugin costs: the same work in the same modules under Weft's engine and under
// Extism's SDK for Go, and as a native function, a subprocess over gRPC and a webhook.
//
//	scripts/bench-guests && cd bench/engine && go run . -rounds 5 -run 'before_run/c/'
//
// The work is that of a small plugin: before_run reads 2 KB of JSON, counts the words of a message and writes 0.4 KB. What
// is measured beside it, and what each figure is to be, cases.go lists.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"syscall"

	"github.com/weft-run/weft/bench/internal/measure"
)

func main() {
	if code, ok := runChild(os.Args[1:]); ok {
		os.Exit(code)
	}
	var s settings
	flag.IntVar(&s.rounds, "rounds", 15, "how many times each case is measured; the table has the medians")
	flag.StringVar(&s.cases, "case", "", "the cases to measure, with commas between them; empty for all: "+cases().Names())
	flag.StringVar(&s.run, "run", "", "measure only what this regular expression finds in case/guest/host, as in before_run/c/clean")
	flag.StringVar(&s.guests, "guests", "../../bin/bench", "the folder that the guests were built into")
	flag.StringVar(&s.out, "out", "", "the file that the rows are written to; empty for none")
	flag.IntVar(&s.calls, "calls", 100_000, "how many calls the case many_calls makes")
	flag.IntVar(&s.reloads, "reloads", 1_000, "how many times the case reload loads a module")
	flag.StringVar(&s.profile, "cpuprofile", "", "the file that a profile of the whole is written to; empty for none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, s); err != nil {
		fmt.Fprintln(os.Stderr, "engine:", err)
		os.Exit(1)
	}
}

// settings are what the flags say.
type settings struct {
	rounds, calls, reloads  int
	cases, run, guests, out string
	profile                 string
}

// run measures, prints the table and, where every case could be measured, writes the file.
func run(ctx context.Context, w io.Writer, s settings) error {
	if s.rounds < 1 {
		return fmt.Errorf("-rounds is %d: at least 1 is needed", s.rounds)
	}
	only, err := regexp.Compile(s.run)
	if err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	chosen, err := cases().Chosen(s.cases)
	if err != nil {
		return err
	}
	stop, err := measure.Profile(s.profile)
	if err != nil {
		return err
	}
	defer stop()
	b := &bench{shelf: shelf(s.guests), rounds: s.rounds, calls: s.calls, reloads: s.reloads, only: only, sessions: map[sessionKey]session{}}
	defer b.close(context.WithoutCancel(ctx))
	rows, err := chosen.Measure(ctx, "engine", b)
	table(w, rows, s.rounds)
	if err != nil {
		return err
	}
	return measure.WriteRows(s.out, rows)
}
