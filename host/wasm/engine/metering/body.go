package metering

import (
	"slices"

	"github.com/weft-run/weft/host/wasm/engine/bytecode"
)

// writer writes functions anew.
type writer struct {
	*plan
	costs   *costs
	cyclic  []bool
	regions []region
	loops   []loop // that are open
	fuel    uint32 // the index of a local that is added to the function where it has a tight loop
	frame   int64  // what the function takes from the stack budget, or 0
	out     []byte
}

// loop is a loop that is open. A tight one has three blocks around it.
type loop struct {
	depth uint32 // in how many blocks of the old function it lies, itself included
	tight bool
}

// function returns the body of a function, declarations of locals included. It is good until the next call.
func (w *writer) function(i int) []byte {
	f, body := w.code.Funcs[i], w.m.Bodies[i]
	wasm := w.m.Wasm
	w.regions = w.costs.regions(f, w.regions)
	w.frame = 0
	if w.cyclic[i] {
		w.frame = w.frameSize(f)
	}
	w.declare(f, body)
	if w.costs.leaf[i] < 0 {
		w.charge(w.regions[0].price)
	}
	if w.frame > 0 {
		w.enter()
		w.out = append(append(w.out, bytecode.OpBlock), w.blockType[w.m.Funcs[i]]...)
	}
	pos, loops := f.Entry, 0
	for _, mark := range f.Marks {
		at := int(mark.At)
		w.out = append(w.out, wasm[pos:at]...)
		pos = at
		switch op := wasm[at]; op {
		case bytecode.OpLoop:
			loops++
			pos = skipNumber(wasm, at+1)
			w.head(mark, wasm[at+1:pos], w.regions[loops])
		case bytecode.OpEnd:
			pos++
			w.tail()
		case bytecode.OpBranch, bytecode.OpBranchIf, bytecode.OpBranchTable:
			pos = w.branch(mark)
		case bytecode.OpReturn:
			if w.frame > 0 {
				pos++
				w.out = append(w.out, bytecode.OpBranch)
				w.label(mark.Depth, mark.Depth)
			}
		case bytecode.OpCall, bytecode.OpRefFunc:
			pos = skipNumber(wasm, at+1)
			w.out = bytecode.AppendU32(append(w.out, op), w.funcIndex(mark.Arg))
		case bytecode.OpReturnCall:
			pos = skipNumber(wasm, at+1)
			callee := bytecode.AppendU32(nil, w.funcIndex(mark.Arg))
			w.tailCall(w.types[mark.Arg], op, bytecode.OpCall, callee)
		case bytecode.OpReturnCallIndirect:
			pos = skipNumber(wasm, skipNumber(wasm, at+1))
			w.tailCall(mark.Arg, op, bytecode.OpCallIndirect, wasm[at+1:pos])
		case bytecode.OpMemoryGrow:
			w.call(w.helpers[chargePages])
		case bytecode.OpMisc:
			w.call(w.helpers[bulkHelper(wasm[at+1])])
		}
	}
	w.out = append(w.out, wasm[pos:body.To]...)
	if w.frame > 0 {
		w.leave()
		w.out = append(w.out, bytecode.OpEnd)
	}
	return w.out
}

// declare writes the declarations of locals, with one more where there is a tight loop.
func (w *writer) declare(f bytecode.Func, body bytecode.Span) {
	wasm := w.m.Wasm
	w.out, w.fuel = w.out[:0], f.Locals
	if !slices.ContainsFunc(w.regions[1:], func(r region) bool { return r.tight }) {
		w.out = append(w.out, wasm[body.From:f.Entry]...)
		return
	}
	groups := skipNumber(wasm, body.From)
	w.out = bytecode.AppendU32(w.out, bytecode.Number(wasm[body.From:groups])+1)
	w.out = append(append(w.out, wasm[groups:f.Entry]...), 1, byte(bytecode.I64))
}

// head writes the head of a loop.
//
// A loop that calls nothing is a tight one. What is needed after a call the compiler keeps in memory, and so it does in
// each turn of a loop that may come to a call, taken or not. The call that asks for fuel therefore lies outside:
//
//	block $exit
//	  loop $again
//	    (where there is no fuel, ask for it)
//	    local = fuel
//	    block $empty
//	      loop
//	        (where local is below zero, branch to $empty)
//	        local -= price; fuel = local
//	        ...
//	      end
//	      br $exit
//	    end
//	    br $again
//	  end
//	end
//
// The fuel is in a local as well, since each turn would else have to wait for what the turn before it put into memory. A
// loop that has parameters is no tight one, and none that has such a loop inside.
func (w *writer) head(mark bytecode.Mark, block []byte, r region) {
	w.loops = append(w.loops, loop{depth: mark.Depth + 1, tight: r.tight})
	if !r.tight {
		w.out = append(append(w.out, bytecode.OpLoop), block...)
		w.charge(r.price)
		return
	}
	w.out = append(append(w.out, bytecode.OpBlock), block...)
	w.out = append(append(w.out, bytecode.OpLoop), block...)
	w.out = append(w.out, w.getFuel...)
	w.out = append(w.out, w.refillIf...)
	w.out = append(w.out, w.getFuel...)
	w.out = bytecode.AppendU32(append(w.out, bytecode.OpLocalSet), w.fuel)
	w.out = append(w.out, bytecode.OpBlock, bytecode.BlockEmpty)
	w.out = append(append(w.out, bytecode.OpLoop), block...)
	w.out = bytecode.AppendU32(append(w.out, bytecode.OpLocalGet), w.fuel)
	w.out = append(w.out, bytecode.OpI64Const, 0, bytecode.OpI64LessSigned, bytecode.OpBranchIf, 1)
	w.out = bytecode.AppendU32(append(w.out, bytecode.OpLocalGet), w.fuel)
	w.out = bytecode.AppendS64(append(w.out, bytecode.OpI64Const), r.price)
	w.out = bytecode.AppendU32(append(w.out, bytecode.OpI64Sub, bytecode.OpLocalTee), w.fuel)
	w.out = append(w.out, w.setFuel...)
}

// tail writes the end of a loop.
func (w *writer) tail() {
	last := len(w.loops) - 1
	w.out = append(w.out, bytecode.OpEnd)
	if w.loops[last].tight {
		w.out = append(w.out, bytecode.OpBranch, 2, bytecode.OpEnd, bytecode.OpBranch, 0, bytecode.OpEnd, bytecode.OpEnd)
	}
	w.loops = w.loops[:last]
}

// branch writes a branch that may leave loops, and returns the position after it.
func (w *writer) branch(mark bytecode.Mark) int {
	wasm, pos := w.m.Wasm, int(mark.At)+1
	next := func() uint32 {
		from := pos
		pos = skipNumber(wasm, from)
		return bytecode.Number(wasm[from:pos])
	}
	w.out = append(w.out, wasm[mark.At])
	labels := uint32(1)
	if wasm[mark.At] == bytecode.OpBranchTable {
		labels = next()
		w.out = bytecode.AppendU32(w.out, labels)
		labels++
	}
	for range labels {
		w.label(mark.Depth, next())
	}
	return pos
}

// label writes the label of a branch that lies in depth blocks.
func (w *writer) label(depth, label uint32) {
	target := depth - label
	for i := len(w.loops) - 1; i >= 0 && w.loops[i].depth > target; i-- {
		if w.loops[i].tight {
			label += 3
		}
	}
	w.out = bytecode.AppendU32(w.out, label)
}

// tailCall writes a tail call. The frame is given back before it.
func (w *writer) tailCall(callee uint32, tail, plain byte, immediates []byte) {
	if w.frame == 0 {
		w.out = append(append(w.out, tail), immediates...)
		return
	}
	if inRegisters(w.m.Types[callee]) {
		w.leave()
		w.out = append(append(w.out, tail), immediates...)
		return
	}
	w.out = append(append(w.out, plain), immediates...)
	w.leave()
	w.out = append(w.out, bytecode.OpReturn)
}

// inRegisters says whether the compiler makes a jump of a tail call to a function of that type, on every machine that it
// compiles for. It takes some numbers in registers, and makes a call where there are more.
func inRegisters(t bytecode.FuncType) bool {
	const most = 6
	fits := func(types []bytecode.ValueType) bool {
		ints, floats := 0, 0
		for _, v := range types {
			switch v {
			case bytecode.F32, bytecode.F64, bytecode.V128:
				floats++
			default:
				ints++
			}
		}
		return ints <= most && floats <= most
	}
	return fits(t.Params) && fits(t.Results)
}

// frameSize is what a call of a function takes of the stack, as the budget sees it. The compiler keeps there what is needed
// after a call: locals, and other values, of which there are the more the longer the function is.
func (w *writer) frameSize(f bytecode.Func) int64 {
	instructions := int64(f.Instructions)
	for _, mark := range f.Marks {
		if w.m.Wasm[mark.At] == bytecode.OpLoop {
			instructions += int64(mark.Arg)
		}
	}
	return 64 + 8*int64(f.Slots) + min(instructions, longFrame)
}

// longFrame is the most that the length of a function adds to its frame.
const longFrame = 4096

// skipNumber returns the position after a LEB128 number.
func skipNumber(wasm []byte, at int) int {
	for wasm[at] >= 0x80 {
		at++
	}
	return at + 1
}

// charge writes what takes the price of a region from the fuel.
func (w *writer) charge(price int64) {
	if price == 0 {
		return
	}
	w.out = append(w.out, w.getFuel...)
	w.out = bytecode.AppendS64(append(w.out, bytecode.OpI64Const), price)
	w.out = append(w.out, bytecode.OpI64Sub)
	w.out = append(w.out, w.setAndCheckFuel...)
}

// enter writes what takes a frame from the stack budget, and leave what gives it back. Nothing goes on once the budget is
// used up, and the compiler is told so.
func (w *writer) enter() {
	w.out = append(w.out, w.getStack...)
	w.out = bytecode.AppendS64(append(w.out, bytecode.OpI64Const), w.frame)
	w.out = append(w.out, bytecode.OpI64Sub)
	w.out = append(w.out, w.setStack...)
	w.out = append(w.out, w.getStack...)
	w.out = append(w.out, bytecode.OpI64Const, 0, bytecode.OpI64LessSigned, bytecode.OpIf, bytecode.BlockEmpty)
	w.call(uint32(w.m.ImportedFuncs + 1))
	w.out = append(w.out, bytecode.OpUnreachable, bytecode.OpEnd)
}

func (w *writer) leave() {
	w.out = append(w.out, w.getStack...)
	w.out = bytecode.AppendS64(append(w.out, bytecode.OpI64Const), w.frame)
	w.out = append(w.out, bytecode.OpI64Add)
	w.out = append(w.out, w.setStack...)
}

func (w *writer) call(f uint32) {
	w.out = bytecode.AppendU32(append(w.out, bytecode.OpCall), f)
}
