package engine

import (
	"errors"
	"fmt"
)

// The instructions that are looked at by name.
const (
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opEnd          = 0x0b
	opBranch       = 0x0c
	opBranchIf     = 0x0d
	opBranchTable  = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opSelectTyped  = 0x1c
	opTableSet     = 0x26
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opPrefixMisc   = 0xfc
	opPrefixSIMD   = 0xfd
	opPrefixAtomic = 0xfe
)

// code is what the instructions of a module are looked at for.
type code struct {
	// branches is how many branches the function has that has most of them, complexity the sum of their squares, locals
	// how many locals all functions have; see Limits.
	branches, locals int
	complexity       int64
	// hidden says that an instruction changes what a host cannot see and put back: a table, or whether a passive
	// segment is dropped.
	hidden bool
	// growsTable says that an instruction makes a table larger.
	growsTable bool
	// seen counts the branches seen so far.
	seen int
	// unguarded holds, for each function that calls another one and may do so without passing the head of a loop, the
	// position of its first instruction, and 0 for the others.
	unguarded []int
}

// scanCode walks through the instructions of all functions. It is no validator: the compiler is. It stops at the first
// instruction that it does not know.
func (p *parsed) scanCode(wasm []byte) (code, error) {
	c := code{unguarded: make([]int, len(p.bodies))}
	for i, body := range p.bodies {
		r := &reader{data: wasm, pos: body.from, end: body.to}
		before := c.seen
		first, err := scanBody(r, &c)
		n := c.seen - before
		c.branches = max(c.branches, n)
		c.complexity += int64(n) * int64(n)
		var refused *unsupported
		switch {
		case errors.As(err, &refused):
			return c, err
		case err != nil:
			return c, fmt.Errorf("function %d: %w at byte %d", i+p.importedF, err, r.pos)
		}
		c.unguarded[i] = first
	}
	return c, nil
}

// scanBody returns the position of the first instruction of a function that needs a guard, or 0; see code.unguarded.
func scanBody(r *reader, c *code) (int, error) {
	// Locals come in groups: how many, and of what type.
	if err := r.vector(mostFuncs, func() error {
		n, err := r.u32()
		if err != nil {
			return err
		}
		c.locals = min(c.locals+int(min(n, mostLocals)), mostLocals)
		_, err = r.byte()
		return err
	}); err != nil {
		return 0, err
	}
	first := r.pos
	calls, straight, guarded := false, true, false
	for r.left() > 0 {
		op, err := r.byte()
		if err != nil {
			return 0, err
		}
		switch op {
		case opLoop:
			guarded = guarded || straight
		case opCall, opCallIndirect:
			calls, straight = true, false
		case opIf, opBranch, opBranchIf, opBranchTable, opReturn:
			straight = false
		}
		if err := skipImmediates(r, op, c); err != nil {
			return 0, err
		}
	}
	if calls && !guarded {
		return first, nil
	}
	return 0, nil
}

// mostLocals bounds the count of locals, so that no sum of them overflows.
const mostLocals = 1 << 30

// skipImmediates passes over what follows an instruction, and notes in c, where there is one, what it is looked at for.
func skipImmediates(r *reader, op byte, c *code) error {
	if c == nil {
		c = &code{}
	}
	switch {
	case op == opBlock || op == opLoop || op == opIf:
		c.seen++
		_, err := r.leb(5) // a block type is a signed number of 33 bits
		return err
	case op == opBranchTable:
		n, err := r.u32()
		if err != nil {
			return err
		}
		if int64(n) >= int64(r.left()) {
			return errTruncated
		}
		c.seen += int(n) + 1
		return indices(r, int(n)+1)
	case op == opCallIndirect:
		return indices(r, 2)
	case op == opSelectTyped:
		n, err := r.u32()
		if err != nil {
			return err
		}
		return r.skip(uint64(n))
	case op == opBranch || op == opBranchIf:
		c.seen++
		return indices(r, 1)
	case op == opTableSet:
		c.hidden = true
		return indices(r, 1)
	case op == opCall, op >= 0x20 && op <= 0x25, op == 0x3f, op == 0x40, op == 0xd2:
		return indices(r, 1) // calls, variables, memory.size and memory.grow, ref.func
	case op >= 0x28 && op <= 0x3e:
		return memoryArgument(r)
	case op == opI32Const:
		_, err := r.leb(5)
		return err
	case op == opI64Const:
		_, err := r.leb(10)
		return err
	case op == opF32Const:
		return r.skip(4)
	case op == opF64Const:
		return r.skip(8)
	case op == 0xd0: // ref.null
		return r.skip(1)
	case op <= 0x01, op == 0x05, op == opEnd, op == opReturn, op == 0x1a, op == 0x1b, op >= 0x45 && op <= 0xc4, op == 0xd1:
		return nil
	case op == opPrefixMisc:
		return skipMisc(r, c)
	case op == opPrefixSIMD:
		return skipSIMD(r)
	case op == opPrefixAtomic:
		return errThreads
	case op == 0x12 || op == 0x13:
		return &unsupported{"tail calls", "build without the tail-call feature"}
	case op >= 0x06 && op <= 0x0a, op == 0x18, op == 0x19, op == 0x1f:
		return errExceptions
	default:
		return fmt.Errorf("unknown instruction 0x%02x", op)
	}
}

// skipMisc passes over saturating conversions and bulk operations.
func skipMisc(r *reader, c *code) error {
	op, err := r.u32()
	if err != nil {
		return err
	}
	switch {
	case op <= 7: // saturating conversions
		return nil
	case op == 8 || op == 10 || op == 16: // memory.init, memory.copy, table.size
		if op == 16 {
			return indices(r, 1)
		}
		return indices(r, 2)
	case op == 11: // memory.fill
		return indices(r, 1)
	case op == 9 || op == 13 || op == 15 || op == 17: // data.drop, elem.drop, table.grow, table.fill
		c.hidden = true
		c.growsTable = c.growsTable || op == 15
		return indices(r, 1)
	case op == 12 || op == 14: // table.init, table.copy
		c.hidden = true
		return indices(r, 2)
	default:
		return fmt.Errorf("unknown instruction 0xfc %d", op)
	}
}

// skipSIMD passes over the operands of a vector instruction.
func skipSIMD(r *reader) error {
	op, err := r.u32()
	if err != nil {
		return err
	}
	switch {
	case op <= 11, op == 92, op == 93: // loads and stores
		return memoryArgument(r)
	case op == 12 || op == 13: // v128.const, i8x16.shuffle
		return r.skip(16)
	case op >= 21 && op <= 34: // lanes
		return r.skip(1)
	case op >= 84 && op <= 91: // loads and stores of a lane
		if err := memoryArgument(r); err != nil {
			return err
		}
		return r.skip(1)
	case op <= 255:
		return nil
	default:
		return &unsupported{"relaxed SIMD", "build without the relaxed-simd feature"}
	}
}

func memoryArgument(r *reader) error {
	align, err := r.u32()
	if err != nil {
		return err
	}
	if align >= 64 { // the bit that says that the index of a memory follows
		return errMemories
	}
	_, err = r.leb(10)
	return err
}

func indices(r *reader, n int) error {
	for range n {
		if _, err := r.u32(); err != nil {
			return err
		}
	}
	return nil
}
