package engine

import (
	"fmt"
	"math"

	"github.com/weft-run/weft/host/wasm/engine/bytecode"
)

// What a function costs the compiler grows with its branches, and also with its branches times its locals: where two ways
// meet, the compiler makes a value for each local that is used after it. A module of 50 KiB can have it make millions.
const (
	// valuePrice is what such a value counts as in Limits.Complexity, which counts the squares of branches else.
	valuePrice = 150
	// functionShare is which part of Limits.Complexity the values of one function may take. The compiler holds all of them
	// at once, in some 400 bytes each.
	functionShare = 20
	// meetingBytes and useBytes are how long the code is at least that has ways meet, and that uses a local.
	meetingBytes = 7
	useBytes     = 2
	// usualWidth is how many parameters a function may have without being suspected of more, and wideWeight how much more a
	// value costs that a block is given or gives.
	usualWidth = 16
	wideWeight = 5
)

// merges is how many values the compiler makes at most because ways meet in a function of so many bytes and locals, in a
// module in which no function has more branches than that, and no block hands on more than so many values.
func merges(bytes int, locals uint32, wide, branches int) int64 {
	return int64(min(int(locals), bytes/useBytes)+wideWeight*wide) * int64(min(branches, bytes/meetingBytes))
}

// wide is how many values beyond the usual a block of the module may be given, or give. Which types are those of blocks is
// not known here.
func (c *checked) wide() int {
	most := 0
	for _, t := range c.Types {
		most = max(most, len(t.Params), len(t.Results))
	}
	return max(0, most-usualWidth)
}

// checkComplexity compares what the module would cost the compiler with its limit.
func (c *checked) checkComplexity(found *bytecode.Code) (faults []Fault) {
	limit := c.limits.Complexity
	if limit < 0 {
		return nil
	}
	const remedy = "raise limits.complexity if the module is known to be good"
	total, wide := found.Complexity, c.wide()
	for i, f := range found.Funcs {
		n := merges(c.Bodies[i].To-f.Entry, f.Locals, wide, found.Branches)
		total += min(n, math.MaxInt32) * valuePrice
		if most := limit / functionShare / valuePrice; n > most && len(faults) == 0 {
			faults = append(faults, Fault{
				What: fmt.Sprintf("function %d", c.ImportedFuncs+i), Have: count(int(n)) + " branches times locals",
				Want: "at most " + count(int(most)), Remedy: "split the function, or " + remedy, Limit: "complexity",
			})
		}
	}
	if exceeds(total, limit) {
		faults = append(faults, Fault{
			What: "complexity", Have: count(int(total)), Want: "at most " + count(int(limit)), Remedy: remedy, Limit: "complexity",
		})
	}
	return faults
}
