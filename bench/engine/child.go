package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/weft-run/weft/bench/internal/measure"
)

// The benchmark starts itself again for what must be a process of its own: the peers that are subprocesses, and what is
// measured in a fresh process. The first argument then is one of these words. What a child of the second kind is to do
// comes as JSON in the second argument, and what it found goes as JSON to its standard output.
const (
	childGRPC      = "serve-grpc"
	childHTTP      = "serve-http"
	childFirstCall = "measure-first-call"
	childInstances = "measure-instances"
	childEndless   = "measure-endless"
	childManyCalls = "measure-many-calls"
	childReload    = "measure-reload"
)

// runChild runs what the arguments ask for, if they ask for a child at all, and returns the exit code.
func runChild(args []string) (code int, ok bool) {
	if len(args) == 0 {
		return 0, false
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	switch args[0] {
	case childGRPC:
		serveGRPC()
	case childHTTP:
		err = serveHTTP()
	case childFirstCall:
		err = measure.Answer(ctx, os.Stdout, args, measureFirstCall)
	case childInstances:
		err = measure.Answer(ctx, os.Stdout, args, measureInstances)
	case childEndless:
		err = measure.Answer(ctx, os.Stdout, args, measureEndless)
	case childManyCalls:
		err = measure.Answer(ctx, os.Stdout, args, measureManyCalls)
	case childReload:
		err = measure.Answer(ctx, os.Stdout, args, measureReload)
	default:
		return 0, false
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "engine %s: %v\n", args[0], err)
		return 1, true
	}
	return 0, true
}
