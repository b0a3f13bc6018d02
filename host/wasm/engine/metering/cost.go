package metering

import "github.com/weft-run/weft/host/wasm/engine/bytecode"

const (
	// leafMost is how many instructions a function may have that its callers pay for.
	leafMost = 16
	// fullMost is up to where an instruction of a region costs one, and sparse how many of those beyond it cost one
	// together.
	fullMost = 256
	sparse   = 4
	// tightMost is how many loops a function may have for any of them to be a tight one. The blocks around those cost the
	// compiler time, the more the more there are in one function.
	tightMost = 64
)

// price returns what passing through a region of that many instructions costs.
func price(instructions uint64) int64 {
	if instructions <= fullMost {
		return int64(instructions)
	}
	return int64(fullMost + (instructions-fullMost)/sparse)
}

// costs knows what functions cost.
type costs struct {
	g *graph
	// leaf holds, for each function that its callers pay for, its instructions, and -1 for the others.
	leaf []int8
	// class holds, for each class of signatures, the dearest such function that an indirect call may reach.
	class []uint8
}

func newCosts(g *graph) *costs {
	c := &costs{g: g, leaf: make([]int8, len(g.m.Funcs)), class: make([]uint8, len(g.taken))}
	for i, f := range g.code.Funcs {
		c.leaf[i] = -1
		if f.Instructions <= leafMost && c.simple(f) {
			c.leaf[i] = int8(f.Instructions)
		}
	}
	for class, list := range g.taken {
		for _, f := range list {
			c.class[class] = max(c.class[class], uint8(max(c.leaf[f], 0)))
		}
	}
	return c
}

// simple says whether a function has no loops, calls and bulk operations.
func (c *costs) simple(f bytecode.Func) bool {
	for _, mark := range f.Marks {
		switch c.g.m.Wasm[mark.At] {
		case bytecode.OpReturn, bytecode.OpRefFunc: // and branches are there only where there is a loop
		default:
			return false
		}
	}
	return true
}

// region is a part of a function: a loop without the loops inside of it, or what lies outside of all loops.
type region struct {
	price int64
	// tight says that it is, if a loop, a tight one: that nothing in it calls anything, loops inside of it included, that
	// none has parameters, and that the function does not have too many.
	tight bool
}

// regions returns what lies outside of the loops of a function, and then each loop, in the order of their heads. They go
// into the given slice.
func (c *costs) regions(f bytecode.Func, into []region) []region {
	m := c.g.m
	all := append(into[:0], region{price: int64(f.Instructions), tight: true})
	var outer []int // the regions around the current one
	at := 0
	for _, mark := range f.Marks {
		switch m.Wasm[mark.At] {
		case bytecode.OpLoop:
			outer = append(outer, at)
			at = len(all)
			all = append(all, region{price: int64(mark.Arg), tight: c.bare(m.Wasm[mark.At+1:])})
		case bytecode.OpEnd:
			above := outer[len(outer)-1]
			all[above].tight = all[above].tight && all[at].tight
			at, outer = above, outer[:len(outer)-1]
		case bytecode.OpCall, bytecode.OpReturnCall:
			all[at].tight = false
			if f := int(mark.Arg) - m.ImportedFuncs; f >= 0 {
				all[at].price += int64(max(c.leaf[f], 0))
			}
		case bytecode.OpCallIndirect, bytecode.OpReturnCallIndirect:
			all[at].tight = false
			all[at].price += int64(c.class[c.g.class[mark.Arg]])
		case bytecode.OpMemoryGrow, bytecode.OpMisc:
			all[at].tight = false
		}
	}
	if f.LoopsFirst && all[0].price <= leafMost {
		// One charge instead of two, one after the other. It is too much from the second turn on, but not by much.
		all[1].price += all[0].price
		all[0].price = 0
	}
	for i := range all {
		all[i].price = price(uint64(all[i].price))
		all[i].tight = all[i].tight && len(all) <= tightMost+1
	}
	return all
}

// bare says whether a block of the type that b begins with has no parameters.
func (c *costs) bare(b []byte) bool {
	t := bytecode.BlockType(b)
	return t < 0 || len(c.g.m.Types[t].Params) == 0
}
