package host

import (
	"context"
	"time"
)

// HookTrace tells what one hook call did.
type HookTrace struct {
	RunID      string
	SourceID   string
	SourceType string
	// Hook is the contract's name of it, such as "before_run"; "model" for a model call, "function" for a tool call.
	Hook string
	// Tool is the tool that was called.
	Tool     string
	Duration time.Duration
	// Messages, Instructions and Tools count what the call added.
	Messages     int
	Instructions int
	Tools        int
	// Costs are what the call used of its limits, where the provider tells.
	Costs []Cost
	// Err is the call's error; Skipped says that the run went on without it.
	Err     error
	Skipped bool
}

// Cost is what a hook call used of one limit.
type Cost struct {
	// Name is the limit's name in the configuration, such as "memory".
	Name string
	Used int64
	// Limit is 0 where there is none.
	Limit int64
	// Unit is "ns", "bytes" or empty for a plain number.
	Unit string
}

// Tracer hears of each hook call, model call and tool call when it is over. It is called on the run's goroutine.
type Tracer func(ctx context.Context, t HookTrace)
