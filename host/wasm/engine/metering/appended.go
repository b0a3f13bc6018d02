package metering

import (
	"math/bits"

	"github.com/weft-run/weft/host/wasm/engine/bytecode"
)

// The functions that are added to a module, after its own. The first is in every module, the others where they are
// needed.
const (
	refill      = iota // asks the host for more fuel
	chargeBytes        // charges for an operation on that many bytes
	chargeElements
	chargePages
	helperCount
)

// What bulk operations cost: one for so many bytes, and so many for each page.
const (
	bytesForOne = 16
	pagePrice   = 65536 / bytesForOne
)

var helperNames = [helperCount]string{"weft.refill", "weft.charge_bytes", "weft.charge_elements", "weft.charge_pages"}

// bulkHelper returns which function charges for a bulk operation.
func bulkHelper(misc byte) int {
	switch misc {
	case bytecode.MiscMemoryInit, bytecode.MiscMemoryCopy, bytecode.MiscMemoryFill:
		return chargeBytes
	}
	return chargeElements
}

// planHelpers gives indices to the functions that are needed.
func (p *plan) planHelpers() {
	needed := [helperCount]bool{refill: true}
	for _, f := range p.code.Funcs {
		for _, mark := range f.Marks {
			switch p.m.Wasm[mark.At] {
			case bytecode.OpMemoryGrow:
				needed[chargePages] = true
			case bytecode.OpMisc:
				needed[bulkHelper(p.m.Wasm[mark.At+1])] = true
			}
		}
	}
	next := uint32(p.m.FuncCount() + added)
	for h, is := range needed {
		if is {
			p.helpers[h] = next
			next++
		}
	}
}

// helperBody returns the body of an added function. The charging ones return their argument.
func (p *plan) helperBody(h int) []byte {
	call := func(f uint32) []byte { return bytecode.AppendU32([]byte{bytecode.OpCall}, f) }
	body := []byte{0} // no locals
	if h == refill {
		body = append(body, p.getFuel...)
		body = append(body, call(uint32(p.m.ImportedFuncs))...)
		body = append(body, p.setFuel...)
		return append(body, bytecode.OpEnd)
	}
	shift := func(op byte, by int) []byte {
		return append(bytecode.AppendS64([]byte{bytecode.OpI64Const}, int64(by)), op)
	}
	body = append(body, p.getFuel...)
	body = append(body, bytecode.OpLocalGet, 0, bytecode.OpI64ExtendUnsigned)
	switch h {
	case chargeBytes:
		body = append(body, shift(bytecode.OpI64ShiftRight, bits.TrailingZeros(bytesForOne))...)
	case chargePages:
		body = append(body, shift(bytecode.OpI64Shift, bits.TrailingZeros(pagePrice))...)
	}
	body = append(body, bytecode.OpI64Sub)
	body = append(body, p.setAndCheckFuel...)
	return append(body, bytecode.OpLocalGet, 0, bytecode.OpEnd)
}
