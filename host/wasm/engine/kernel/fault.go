package kernel

// Kind says which rule a guest broke.
type Kind int

const (
	// Outside is an access to bytes that are not in the memory that host and guest share.
	Outside Kind = iota + 1
	// OutsideInput is a load from beyond the end of the input.
	OutsideInput
	// TooLarge is an output above its limit. None of it was read.
	TooLarge
	// NoBlock is an offset where no block begins.
	NoBlock
)

// Fault says why the kernel stopped a guest. The numbers are the guest's own and may be anything.
type Fault struct {
	// Function is what the guest called, as in load_u64.
	Function string
	// Kind says what was wrong with the call.
	Kind Kind
	// Offset is where the access was to begin; of OutsideInput, counted from the beginning of the input.
	Offset uint64
	// Length is how many bytes it was to have; of OutsideInput, how many the input has; of NoBlock, 0.
	Length uint64
}

// faults are the functions and kinds, by the number that stands in the state.
var faults = [...]Fault{
	1:  {Function: "load_u8", Kind: Outside},
	2:  {Function: "load_u64", Kind: Outside},
	3:  {Function: "store_u8", Kind: Outside},
	4:  {Function: "store_u64", Kind: Outside},
	5:  {Function: "input_load_u8", Kind: OutsideInput},
	6:  {Function: "input_load_u64", Kind: OutsideInput},
	7:  {Function: "input_set", Kind: Outside},
	8:  {Function: "output_set", Kind: Outside},
	9:  {Function: "output_set", Kind: TooLarge},
	10: {Function: "error_set", Kind: NoBlock},
}

// Fault returns why the kernel stopped the guest, and false where it did not. A call that ended for another reason has
// none.
func (k *Kernel) Fault() (Fault, bool) {
	memory := k.bytes()
	number := word(memory, stateFault)
	if number == 0 || number >= uint64(len(faults)) {
		return Fault{}, false
	}
	fault := faults[number]
	fault.Offset, fault.Length = word(memory, stateFaultOffset), word(memory, stateFaultLength)
	return fault, true
}
