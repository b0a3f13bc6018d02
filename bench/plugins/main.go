// Command plugins measures what runs of an agent cost whose providers and middleware are plugins, beside the same ones
// written in Go. The plugins are built from C and Rust, and run as they do by default: with all limits, and on a clean
// memory for each call.
//
//	scripts/bench-guests plugins-c plugins-rust && go run ./bench/plugins -rounds 5 -run 'run/c/'
//
// What is measured, and what each figure is to be, cases.go lists.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"

	"github.com/weft-run/weft/bench/internal/measure"
)

func main() {
	if code, ok := runChild(os.Args[1:]); ok {
		os.Exit(code)
	}
	var s settings
	flag.IntVar(&s.rounds, "rounds", 15, "how many times each case is measured; the table has the medians")
	flag.DurationVar(&s.sample, "sample", 100*time.Millisecond, "how long a sample takes at least")
	flag.StringVar(&s.cases, "case", "", "the cases to measure, with commas between them; empty for all: "+cases().Names())
	flag.StringVar(&s.run, "run", "", "measure only what this regular expression finds in case/guest/messages, as in run/c/10000")
	flag.StringVar(&s.guests, "guests", "bin/bench/plugins", "the folder that the guests were built into")
	flag.StringVar(&s.out, "out", "", "the file that the rows are written to; empty for none")
	flag.DurationVar(&s.reload, "reload", time.Minute, "how long new versions arrive in the case reload")
	flag.IntVar(&s.idle, "idle", 1_000, "how many plugins the case idle loads")
	flag.StringVar(&s.profile, "cpuprofile", "", "the file that a profile of the whole is written to; empty for none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, s); err != nil {
		fmt.Fprintln(os.Stderr, "plugins:", err)
		os.Exit(1)
	}
}

// settings are what the flags say.
type settings struct {
	rounds, idle            int
	sample, reload          time.Duration
	cases, run, guests, out string
	profile                 string
}

// run measures, prints the table and, where every case could be measured, writes the file.
func run(ctx context.Context, w io.Writer, s settings) (err error) {
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
	b := newBench(s, only)
	defer func() { err = errors.Join(err, b.close(context.WithoutCancel(ctx))) }()
	rows, err := chosen.Measure(ctx, "plugins", b)
	table(w, rows, s.rounds)
	if err != nil {
		return err
	}
	return measure.WriteRows(s.out, rows)
}
