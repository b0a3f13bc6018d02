package wasm

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
)

// emit tells the caller of the run of an event (clause HF-14).
func emit(ctx context.Context, c *call, input []byte) ([]byte, error) {
	const name = "emit"
	in, err := readEvent(c, name, input, abi.DecodeEmit)
	if err != nil {
		return nil, err
	}
	if err := c.outside(func() error { return host.Emit(host.EventsFrom(ctx, c.version.sourceID), in.Name, in.Data) }); err != nil {
		return nil, c.notTold(ctx, name, err)
	}
	return c.answer(name, newAnswer())
}

// request asks the caller of the run, and waits for the answer (clause HF-15).
func request(ctx context.Context, c *call, input []byte) ([]byte, error) {
	const name = "request"
	in, err := readEvent(c, name, input, abi.DecodeEventRequest)
	if err != nil {
		return nil, err
	}
	var answer jsontext.Value
	var answered bool
	if err := c.outside(func() (err error) {
		answer, answered, err = host.Request(host.EventsFrom(ctx, c.version.sourceID), in.Name, in.Data, time.Duration(in.WaitMS)*time.Millisecond)
		return err
	}); err != nil {
		return nil, c.notTold(ctx, name, err)
	}
	out := newAnswer()
	out.either("answered", answered)
	if answered {
		out.raw("answer", answer)
	}
	return c.answer(name, out)
}

// readEvent reads an event that may be told, and counts it. Events leave the plugin, so they are no larger than its output.
func readEvent[T any](c *call, function string, input []byte, decode func([]byte) (*T, int, error)) (*T, error) {
	v := c.version
	if !slices.Contains(v.grants.Events, function) {
		return nil, denied(function, listed("events", v.grants.Events, function))
	}
	if limit := v.module.Limits().Output; beyond(int64(len(input)), limit) {
		return nil, limitReached("%s: the event has %d bytes, more than the %d that it may have: tell less, or raise limits.output",
			function, len(input), limit)
	}
	in, err := readInput(c, function, input, decode)
	if err != nil {
		return nil, err
	}
	if c.events++; beyond(c.events, v.limits.Events) {
		return nil, limitReached("%s: one call may tell %d events: tell fewer, or raise limits.events", function, v.limits.Events)
	}
	return in, nil
}

// notTold is the error of an event that did not reach the caller of the run. Where that one is gone, so is the run.
func (c *call) notTold(ctx context.Context, function string, err error) error {
	if c.panicked != nil || errors.Is(err, host.ErrStopped) || ctx.Err() != nil {
		c.passed = err
		return err
	}
	return c.unavailable(ctx, function, "the way to the caller", err)
}
