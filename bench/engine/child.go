package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"

	"github.com/go-json-experiment/json"
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
		err = answer(ctx, os.Stdout, args, measureFirstCall)
	case childInstances:
		err = answer(ctx, os.Stdout, args, measureInstances)
	case childEndless:
		err = answer(ctx, os.Stdout, args, measureEndless)
	case childManyCalls:
		err = answer(ctx, os.Stdout, args, measureManyCalls)
	case childReload:
		err = answer(ctx, os.Stdout, args, measureReload)
	default:
		return 0, false
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "engine %s: %v\n", args[0], err)
		return 1, true
	}
	return 0, true
}

// answer does what a child is there for.
func answer[In, Out any](ctx context.Context, w io.Writer, args []string, work func(context.Context, In) (Out, error)) error {
	if len(args) != 2 {
		return fmt.Errorf("wants one argument, JSON, and has %d", len(args)-1)
	}
	var in In
	if err := json.Unmarshal([]byte(args[1]), &in); err != nil {
		return err
	}
	out, err := work(ctx, in)
	if err != nil {
		return err
	}
	return json.MarshalWrite(w, out)
}

// ask has a child do something and returns what it found.
func ask[Out any](ctx context.Context, name string, in any) (out Out, err error) {
	self, err := os.Executable()
	if err != nil {
		return out, err
	}
	arg, err := json.Marshal(in)
	if err != nil {
		return out, err
	}
	var stdout bytes.Buffer
	command := exec.CommandContext(ctx, self, name, string(arg))
	command.Stdout, command.Stderr = &stdout, os.Stderr
	if err := command.Run(); err != nil {
		return out, fmt.Errorf("%s: %w", name, err)
	}
	return out, json.Unmarshal(stdout.Bytes(), &out)
}
