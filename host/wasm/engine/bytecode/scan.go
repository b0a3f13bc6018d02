package bytecode

import (
	"errors"
	"fmt"
	"math"
)

// scanner walks through functions.
type scanner struct {
	reader
	m        *Module
	code     *Code
	marks    []Mark
	open     []frame
	loop     uint32 // in how many blocks the innermost open loop lies, itself included; 0 where there is none
	locals   uint64 // of this function
	branches int    // of this function
	// calls says that the function calls another one, guarded that it passes the head of a loop first. straight says that
	// the instruction is one that each call of the function gets to.
	calls, guarded, straight bool
}

// frame is a block that is open.
type frame struct {
	op byte
	// mark is that of a loop, outer the count of instructions around it, and loop the value of the scanner's outside of it.
	mark, outer, loop uint32
}

// declarations reads the locals of a function. In slots a v128 counts as two.
func (s *scanner) declarations(t FuncType) (slots uint64, err error) {
	s.locals = uint64(len(t.Params))
	slots = s.locals
	for _, p := range t.Params {
		if p == V128 {
			slots++
		}
	}
	err = s.vector(mostFuncs, func() error {
		n, err := s.u32()
		if err != nil {
			return err
		}
		v, err := decodeValueType(&s.reader)
		s.locals += uint64(n)
		slots += uint64(n)
		if v == V128 {
			slots += uint64(n)
		}
		s.code.Locals = min(s.code.Locals+int(min(n, mostLocals)), mostLocals)
		return err
	})
	if err == nil && s.locals > math.MaxUint32 {
		err = errors.New("too many locals")
	}
	return slots, err
}

// function walks through one function. Its last byte is known to be an end, so that a number that begins in it ends in
// it: it need not be checked that there is another byte.
func (s *scanner) function(f *Func, t FuncType) (err error) {
	if f.Slots, err = s.declarations(t); err != nil {
		return err
	}
	f.Entry, f.Locals = s.pos, uint32(s.locals)
	if s.left() == 0 || s.data[s.end-1] != OpEnd {
		return errors.New("no end after the last instruction")
	}
	s.open = append(s.open[:0], frame{op: OpBlock})
	s.calls, s.guarded, s.straight, s.loop = false, false, true, 0
	data, pos, end := s.data, s.pos, s.end
	globals, locals := uint32(s.m.GlobalCount()), uint32(s.locals)
	count := uint32(0)
	for pos < end {
		op := data[pos]
		c := classes[op]
		if c == classPlain {
			pos++
			count++
			continue
		}
		switch c {
		case classLocal, classGlobal:
			count++
			i := uint32(data[pos+1])
			pos += 2
			if i >= 0x80 {
				s.pos = pos - 1
				if i, err = s.u32(); err != nil {
					return err
				}
				pos = s.pos
			}
			if c == classLocal && i >= locals {
				s.pos = pos
				return fmt.Errorf("local %d, and there are %d", i, locals)
			}
			if c == classGlobal && i >= globals {
				s.pos = pos
				return outOfRange("global", i, int(globals))
			}
		case classI32:
			count++
			if pos += 2; data[pos-1] >= 0x80 {
				s.pos = pos - 1
				if _, err = s.leb(5); err != nil {
					return err
				}
				pos = s.pos
			}
		case classMemory:
			count++
			if pos += 3; pos > end || data[pos-2] >= 32 || data[pos-1] >= 0x80 {
				s.pos = pos - 2
				if err = s.memoryArgument(); err != nil {
					return err
				}
				pos = s.pos
			}
		case classEnd:
			last := len(s.open) - 1
			closed := s.open[last]
			if closed.op == OpLoop {
				s.marks[closed.mark].Arg = count
				s.marks = append(s.marks, Mark{At: uint32(pos), Depth: uint32(last)})
				count, s.loop = closed.outer, closed.loop
			}
			s.open = s.open[:last]
			pos++
			if last == 0 {
				s.pos = pos
				if pos != end {
					return errors.New("instructions after the last end")
				}
				f.Instructions = int(count)
				f.Unguarded, f.LoopsFirst = s.calls && !s.guarded, s.guarded
				return nil
			}
		case classLoop:
			count++
			s.marks = append(s.marks, Mark{At: uint32(pos), Depth: uint32(len(s.open) - 1)})
			s.open = append(s.open, frame{op: OpLoop, mark: uint32(len(s.marks) - 1), outer: count, loop: s.loop})
			count, s.loop = 0, uint32(len(s.open)-1)
			s.guarded = s.guarded || s.straight
			s.pos = pos + 1
			if err = s.block(); err != nil {
				return err
			}
			pos = s.pos
		default:
			if c != classElse {
				count++
			}
			s.pos = pos + 1
			if err = s.instruction(c, op); err != nil {
				return err
			}
			pos = s.pos
		}
	}
	s.pos = pos
	return errors.New("no end of a block")
}

// block reads the type of a block.
func (s *scanner) block() error {
	s.branches++
	t, err := s.blockType()
	switch {
	case err != nil:
		return err
	case t >= 0:
		if t >= int64(len(s.m.Types)) {
			return outOfRange("type", uint32(t), len(s.m.Types))
		}
		return nil
	case t == BlockEmpty-0x80 || ValueType(t+0x80).known() && t >= -64:
		return nil
	case t < -64:
		return fmt.Errorf("unknown type of a block %d", t)
	}
	return typeFault(byte(t + 0x80))
}
