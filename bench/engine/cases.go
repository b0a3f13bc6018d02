package main

import "github.com/weft-run/weft/bench/internal/measure"

// cases are all that is measured, in the order of the table.
func cases() measure.Cases[*bench, row] {
	return measure.Cases[*bench, row]{
		{Name: "before_run", Run: beforeRunCase},
		{Name: "noop", Run: noopCase},
		{Name: "echo", Run: echoCase},
		{Name: "garbage", Run: garbageCase},
		{Name: "throughput", Run: throughputCase},
		{Name: "first_call", Run: firstCallCase},
		{Name: "endless_loop", Run: endlessLoopCase},
		{Name: "recursion", Run: recursionCase},
		{Name: "instances", Run: instancesCase},
		{Name: "many_calls", Run: manyCallsCase},
		{Name: "reload", Run: reloadCase},
	}
}
