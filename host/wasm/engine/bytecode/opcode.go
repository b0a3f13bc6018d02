package bytecode

// The instructions that are looked at by name, by whoever changes code.
const (
	OpUnreachable        = 0x00
	OpBlock              = 0x02
	OpLoop               = 0x03
	OpIf                 = 0x04
	OpElse               = 0x05
	OpEnd                = 0x0b
	OpBranch             = 0x0c
	OpBranchIf           = 0x0d
	OpBranchTable        = 0x0e
	OpReturn             = 0x0f
	OpCall               = 0x10
	OpCallIndirect       = 0x11
	OpReturnCall         = 0x12
	OpReturnCallIndirect = 0x13
	OpLocalGet           = 0x20
	OpLocalSet           = 0x21
	OpLocalTee           = 0x22
	OpGlobalGet          = 0x23
	OpGlobalSet          = 0x24
	OpMemoryGrow         = 0x40
	OpI64Const           = 0x42
	OpI64LessSigned      = 0x53
	OpI64NotLessSigned   = 0x59
	OpI64Add             = 0x7c
	OpI64Sub             = 0x7d
	OpI64ShiftRight      = 0x88
	OpI64Shift           = 0x86
	OpI64ExtendUnsigned  = 0xad
	OpRefFunc            = 0xd2
	OpMisc               = 0xfc
)

// The instructions after OpMisc whose work depends on a length.
const (
	MiscMemoryInit = 8
	MiscMemoryCopy = 10
	MiscMemoryFill = 11
	MiscTableInit  = 12
	MiscTableCopy  = 14
	MiscTableGrow  = 15
	MiscTableFill  = 17

	miscDataDrop  = 9
	miscElemDrop  = 13
	miscTableSize = 16
)

// BlockEmpty is the type of a block without parameters and results.
const BlockEmpty = 0x40

const (
	opEnd        = OpEnd
	opI32Const   = 0x41
	opI64Const   = 0x42
	opF32Const   = 0x43
	opF64Const   = 0x44
	opGlobalGet  = OpGlobalGet
	opRefNull    = 0xd0
	opRefFunc    = OpRefFunc
	opPrefixGC   = 0xfb
	opPrefixSIMD = 0xfd
	simdConst    = 12
)

// class says what follows an instruction, and what Scan has to do about it.
type class uint8

const (
	classUnknown    class = iota
	classPlain            // nothing follows
	classLocal            // the index of a local
	classGlobal           // the index of a global
	classTableGet         // the index of a table
	classTableSet         // the same, and the table changes
	classMemory           // how an address is aligned, and an offset
	classMemorySize       // a zero
	classI32              // a signed number of 32 bits
	classI64              // a signed number of 64 bits
	classF32              // four bytes
	classF64              // eight bytes
	classSelect           // how many types, which is 1, and a type
	classRefNull          // a type
	classBlock
	classLoop
	classIf
	classElse
	classEnd
	classBranch
	classBranchTable
	classReturn
	classCall
	classCallIndirect
	classRefFunc
	classMisc
	classSIMD
	classThreads
	classExceptions
	classFuncTypes
	classGC
)

// classes holds the class of each first byte of an instruction.
var classes = func() (t [256]class) {
	set := func(c class, from, to int) {
		for op := from; op <= to; op++ {
			t[op] = c
		}
	}
	set(classPlain, 0x00, 0x01) // unreachable, nop
	set(classBlock, 0x02, 0x02)
	set(classLoop, 0x03, 0x03)
	set(classIf, 0x04, 0x04)
	set(classElse, 0x05, 0x05)
	set(classExceptions, 0x06, 0x0a)
	set(classEnd, 0x0b, 0x0b)
	set(classBranch, 0x0c, 0x0d)
	set(classBranchTable, 0x0e, 0x0e)
	set(classReturn, 0x0f, 0x0f)
	set(classCall, 0x10, 0x10)
	set(classCallIndirect, 0x11, 0x11)
	set(classCall, 0x12, 0x12)
	set(classCallIndirect, 0x13, 0x13)
	set(classFuncTypes, 0x14, 0x15)
	set(classExceptions, 0x18, 0x19)
	set(classPlain, 0x1a, 0x1b) // drop, select
	set(classSelect, 0x1c, 0x1c)
	set(classExceptions, 0x1f, 0x1f)
	set(classLocal, 0x20, 0x22)
	set(classGlobal, 0x23, 0x24)
	set(classTableGet, 0x25, 0x25)
	set(classTableSet, 0x26, 0x26)
	set(classMemory, 0x28, 0x3e)
	set(classMemorySize, 0x3f, 0x40)
	set(classI32, 0x41, 0x41)
	set(classI64, 0x42, 0x42)
	set(classF32, 0x43, 0x43)
	set(classF64, 0x44, 0x44)
	set(classPlain, 0x45, 0xc4) // numbers
	set(classRefNull, 0xd0, 0xd0)
	set(classPlain, 0xd1, 0xd1) // ref.is_null
	set(classRefFunc, 0xd2, 0xd2)
	set(classGC, 0xd3, 0xd3)
	set(classFuncTypes, 0xd4, 0xd6)
	set(classGC, 0xfb, 0xfb)
	set(classMisc, 0xfc, 0xfc)
	set(classSIMD, 0xfd, 0xfd)
	set(classThreads, 0xfe, 0xfe)
	return t
}()

// simdClass says what follows the second byte of a vector instruction.
type simdClass uint8

const (
	simdPlain      simdClass = iota
	simdMemory               // how an address is aligned, and an offset
	simdMemoryLane           // the same, and a lane
	simdLane                 // a lane
	simdBytes                // sixteen bytes
)

var simdClasses = func() (t [256]simdClass) {
	for op := range t {
		switch {
		case op <= 11, op == 92, op == 93: // loads and stores
			t[op] = simdMemory
		case op == simdConst || op == 13: // v128.const, i8x16.shuffle
			t[op] = simdBytes
		case op >= 21 && op <= 34: // extract_lane, replace_lane
			t[op] = simdLane
		case op >= 84 && op <= 91: // loads and stores of a lane
			t[op] = simdMemoryLane
		}
	}
	return t
}()
