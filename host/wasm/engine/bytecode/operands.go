package bytecode

import (
	"errors"
	"fmt"
)

// instruction reads what follows the first byte of an instruction of the less frequent classes.
func (s *scanner) instruction(c class, op byte) (err error) {
	at := uint32(s.pos - 1)
	depth := uint32(len(s.open) - 1)
	mark := func(arg uint32) { s.marks = append(s.marks, Mark{At: at, Arg: arg, Depth: depth}) }
	var index uint32
	switch c {
	case classBlock, classIf:
		s.open = append(s.open, frame{op: op})
		s.straight = s.straight && c == classBlock
		return s.block()
	case classElse:
		if s.open[len(s.open)-1].op != OpIf {
			return errors.New("else without an if")
		}
		s.open[len(s.open)-1].op = OpElse
		return nil
	case classBranch:
		s.branches++
		s.straight = false
		leaves, err := s.label()
		if leaves {
			mark(0)
		}
		return err
	case classBranchTable:
		leaves, err := s.branchTable()
		if leaves {
			mark(0)
		}
		return err
	case classReturn:
		s.straight = false
		mark(0)
		return nil
	case classCall, classCallIndirect:
		s.calls, s.straight = true, false
		if c == classCall {
			index, err = s.index("function", s.m.FuncCount())
		} else if index, err = s.index("type", len(s.m.Types)); err == nil {
			_, err = s.index("table", len(s.m.Tables))
		}
		mark(index)
		return err
	case classRefFunc:
		index, err = s.index("function", s.m.FuncCount())
		mark(index)
		return err
	case classTableGet, classTableSet:
		s.code.ChangesTables = s.code.ChangesTables || c == classTableSet
		_, err = s.index("table", len(s.m.Tables))
		return err
	case classMemorySize:
		if op == OpMemoryGrow {
			mark(0)
		}
		return s.theMemory()
	case classI64:
		_, err = s.leb(10)
		return err
	case classF32:
		return s.skip(4)
	case classF64:
		return s.skip(8)
	case classSelect:
		if n, err := s.byte(); err != nil || n != 1 {
			return errors.New("select of more than one type")
		}
		_, err = decodeValueType(&s.reader)
		return err
	case classRefNull:
		_, err = decodeReferenceType(&s.reader)
		return err
	case classMisc:
		return s.misc(mark)
	case classSIMD:
		return s.simd()
	}
	return refusal(c, op)
}

// refusal says why an instruction is not accepted.
func refusal(c class, op byte) error {
	switch c {
	case classThreads:
		return errThreads
	case classExceptions:
		return errExceptions
	case classFuncTypes:
		return errFuncTypes
	case classGC:
		return errGC
	}
	return fmt.Errorf("unknown instruction 0x%02x", op)
}

// label reads the label of a branch, and says whether the branch leaves a loop.
func (s *scanner) label() (leaves bool, err error) {
	l, err := s.index("label", len(s.open))
	return uint32(len(s.open)-1)-l < s.loop, err
}

func (s *scanner) branchTable() (leaves bool, err error) {
	s.straight = false
	n, err := s.u32()
	if err != nil {
		return false, err
	}
	if int64(n) >= int64(s.left()) {
		return false, errTruncated
	}
	s.branches += int(n) + 1
	for range int(n) + 1 {
		one, err := s.label()
		if err != nil {
			return false, err
		}
		leaves = leaves || one
	}
	return leaves, nil
}

// memoryArgument reads how an address is aligned, and its offset.
func (s *scanner) memoryArgument() error {
	align, err := s.u32()
	switch {
	case err != nil:
		return err
	case align >= 64 && align < 128: // the bit that says that the index of a memory follows
		return errMemories
	case align >= 32:
		return errors.New("alignment out of range")
	}
	_, err = s.u32()
	return err
}

// theMemory reads the index of a memory, which takes one byte and is zero.
func (s *scanner) theMemory() error {
	b, err := s.byte()
	if err == nil && b != 0 {
		err = errMemories
	}
	return err
}

// misc reads the rest of a saturating conversion or of a bulk operation. The compiler reads the second number of an
// instruction as LEB128, and there is no reason to write it in more than one byte.
func (s *scanner) misc(mark func(uint32)) error {
	op, err := s.byte()
	if err != nil {
		return err
	}
	switch op {
	case 0, 1, 2, 3, 4, 5, 6, 7: // saturating conversions
		return nil
	case MiscMemoryInit, MiscMemoryCopy, MiscMemoryFill:
		mark(0)
	case MiscTableInit, MiscTableCopy, MiscTableGrow, MiscTableFill:
		mark(0)
		s.code.ChangesTables = true
		s.code.GrowsTable = s.code.GrowsTable || op == MiscTableGrow
	case miscDataDrop, miscElemDrop:
		s.code.Drops = true
	}
	const tables, data, elements, memory = "table", "data segment", "element segment", "memory"
	switch op {
	case MiscMemoryInit:
		return s.operands(data, memory)
	case miscDataDrop:
		return s.operands(data)
	case MiscMemoryCopy:
		return s.operands(memory, memory)
	case MiscMemoryFill:
		return s.operands(memory)
	case MiscTableInit:
		return s.operands(elements, tables)
	case miscElemDrop:
		return s.operands(elements)
	case MiscTableCopy:
		return s.operands(tables, tables)
	case MiscTableGrow, miscTableSize, MiscTableFill:
		return s.operands(tables)
	}
	return fmt.Errorf("unknown instruction 0xfc %d", op)
}

// operands reads an index of each of those things.
func (s *scanner) operands(things ...string) (err error) {
	for _, thing := range things {
		switch thing {
		case "memory":
			err = s.theMemory()
		case "table":
			_, err = s.index(thing, len(s.m.Tables))
		case "data segment":
			_, err = s.index(thing, s.m.Data)
		case "element segment":
			_, err = s.index(thing, s.m.Elements)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// simd reads the rest of a vector instruction. Its second number is LEB128 in the specification, and a byte to the
// compiler, which takes the 1 that ends the numbers from 128 on for an instruction that does nothing. Both see the same
// where nothing else is let through.
func (s *scanner) simd() error {
	op, err := s.byte()
	if err != nil {
		return err
	}
	if op >= 0x80 {
		high, err := s.byte()
		switch {
		case err != nil:
			return err
		case high == 2 || high == 3:
			return errRelaxed
		case high != 1:
			return fmt.Errorf("unknown instruction 0xfd 0x%02x 0x%02x", op, high)
		}
	}
	switch simdClasses[op] {
	case simdMemory:
		return s.memoryArgument()
	case simdMemoryLane:
		if err := s.memoryArgument(); err != nil {
			return err
		}
		return s.skip(1)
	case simdLane:
		return s.skip(1)
	case simdBytes:
		return s.skip(16)
	}
	return nil
}
