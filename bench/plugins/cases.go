package main

import "github.com/weft-run/weft/bench/internal/measure"

// cases are all that is measured, in the order of the table.
func cases() measure.Cases[*bench, row] {
	return measure.Cases[*bench, row]{
		{Name: "run", Run: runCase},
		{Name: "throughput", Run: throughputCase},
		{Name: "middleware", Run: middlewareCase},
		{Name: "last_ten", Run: lastTenCase},
		{Name: "waits", Run: waitsCase},
		{Name: "reload", Run: reloadCase},
		{Name: "idle", Run: idleCase},
	}
}
