package bytecode

import (
	"errors"
	"fmt"
)

// Code is what Scan learnt about the functions of a module.
type Code struct {
	// Funcs has an element for each function that the module defines.
	Funcs []Func
	// Branches is how many branches the function has that has most of them: blocks, loops, conditions and each target of a
	// br_table. Complexity is the sum of the squares of the branches, over all functions. Locals is how many locals all
	// functions have, parameters not counted. It stops counting at 2^30.
	Branches   int
	Complexity int64
	Locals     int
	// ChangesTables says that an instruction changes a table, Drops that one drops a passive segment. A host can see and put
	// back neither.
	ChangesTables, Drops bool
	// GrowsTable says that an instruction makes a table larger.
	GrowsTable bool
}

// Func is what Scan learnt about one function.
type Func struct {
	// Entry is the position of the first instruction, after the locals.
	Entry int
	// Locals is how many locals there are, parameters included, and Slots the same where a v128 counts as two.
	Locals uint32
	Slots  uint64
	// Instructions is how many instructions lie outside of all loops. See Mark for what counts as one.
	Instructions int
	// Marks holds places in the order of the code.
	Marks []Mark
	// Unguarded says that the function calls another one, and may do so without passing the head of a loop. LoopsFirst says
	// that each call of the function gets to the head of its first loop, and calls nothing before.
	Unguarded, LoopsFirst bool
}

// Mark is a place in the code that matters to whoever changes it. At is the position of an instruction, and Depth in how
// many blocks that lies. The instruction says what Arg is:
//
//   - loop: how many instructions lie in the loop, those in loops inside of it not counted;
//   - end, which is there only where it is that of a loop: nothing;
//   - br, br_if and br_table, which are there only where they may leave a loop: nothing;
//   - call and return_call: the function that is called;
//   - call_indirect and return_call_indirect: the type of what is called;
//   - ref.func: the function;
//   - return, memory.grow, and those that begin with OpMisc and take a length (see MiscMemoryInit): nothing.
//
// Each instruction counts as one, other than else and end, which count as none.
type Mark struct{ At, Arg, Depth uint32 }

// mostLocals bounds the count of locals, so that no sum of them overflows.
const mostLocals = 1 << 30

// Scan walks through the instructions of all functions, and stops at the first that it does not know, or that refers to
// something that is not there. The module must have been decoded without a fault. Scan does not check types: that is for
// the compiler. But where both accept a function, both found the same instructions in it.
func (m *Module) Scan() (*Code, *Fault) {
	c := &Code{Funcs: make([]Func, len(m.Bodies))}
	s := &scanner{m: m, code: c, open: make([]frame, 0, 64)}
	ends := make([]int, len(m.Bodies))
	for i, body := range m.Bodies {
		s.reader = reader{data: m.Wasm, pos: body.From, end: body.To}
		s.branches = 0
		if err := s.function(&c.Funcs[i], m.Types[m.Funcs[i]]); err != nil {
			var refused *Fault
			if errors.As(err, &refused) {
				return c, refused
			}
			return c, &Fault{
				What: "malformed code", Have: fmt.Sprintf("function %d: %v at byte %d", i+m.ImportedFuncs, err, s.pos),
				Remedy: "the file is damaged, or uses what is not supported",
			}
		}
		c.Branches = max(c.Branches, s.branches)
		c.Complexity += int64(s.branches) * int64(s.branches)
		ends[i] = len(s.marks)
	}
	from := 0
	for i, to := range ends {
		c.Funcs[i].Marks = s.marks[from:to:to]
		from = to
	}
	return c, nil
}
