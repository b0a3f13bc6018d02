package main

import (
	"context"
	"time"
)

// budget is how long a call may run, in every host that has such a limit. It is the default of Weft's engine.
const budget = 2 * time.Second

// session is one guest in one host, ready for calls. One goroutine at a time calls it.
type session interface {
	// call runs an exported function.
	call(ctx context.Context, export string, input []byte) ([]byte, error)
	close(ctx context.Context) error
}

// host is a way to run a guest.
type host struct {
	name string
	// guests says whether the host runs guests at all: the others have the work built in, and a session of theirs knows
	// before_run only.
	guests bool
	open   func(ctx context.Context, guest guest) (session, error)
}

// The hosts' names, as they stand in the table.
const (
	hostNative     = "native"
	hostNativeV2   = "native, json v2"
	hostClean      = "clean"
	hostShared     = "shared"
	hostSDK        = "go-sdk"
	hostSDKTimeout = "go-sdk, timeout"
	hostGRPC       = "go-plugin"
	hostHTTP       = "webhook"
)

// hosts are all that are compared; native is first.
func hosts() []host {
	return []host{
		{name: hostNative, open: native(beforeRun)},
		{name: hostNativeV2, open: native(beforeRunV2)},
		{name: hostClean, guests: true, open: openClean},
		{name: hostShared, guests: true, open: openShared},
		{name: hostSDK, guests: true, open: openSDK},
		{name: hostSDKTimeout, guests: true, open: openSDKTimeout},
		{name: hostGRPC, open: openGRPC},
		{name: hostHTTP, open: openHTTP},
	}
}

func native(work func([]byte) ([]byte, error)) func(context.Context, guest) (session, error) {
	return func(context.Context, guest) (session, error) { return nativeSession(work), nil }
}

// nativeSession calls the work in this process.
type nativeSession func([]byte) ([]byte, error)

func (s nativeSession) call(_ context.Context, _ string, input []byte) ([]byte, error) {
	return s(input)
}

func (s nativeSession) close(context.Context) error { return nil }

// wasmHosts are those that run guests.
func wasmHosts(all []host) []host {
	var out []host
	for _, h := range all {
		if h.guests {
			out = append(out, h)
		}
	}
	return out
}
