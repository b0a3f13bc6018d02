//go:build !linux

package linear

// newStore returns the store of a memory that can grow to max bytes. A slice needs to know no maximum.
func newStore(uint64) store { return new(heap) }
