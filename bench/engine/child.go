package main

import (
	"fmt"
	"os"
)

// The benchmark starts itself again for what must be a process of its own: the peers that are subprocesses, and what is
// measured in a fresh process. The first argument then is one of these words.
const (
	childGRPC = "serve-grpc"
	childHTTP = "serve-http"
)

// runChild runs what the arguments ask for, if they ask for a child at all, and returns the exit code.
func runChild(args []string) (code int, ok bool) {
	if len(args) == 0 {
		return 0, false
	}
	var err error
	switch args[0] {
	case childGRPC:
		serveGRPC()
	case childHTTP:
		err = serveHTTP()
	default:
		return 0, false
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "engine %s: %v\n", args[0], err)
		return 1, true
	}
	return 0, true
}
