// Package linear has the linear memories of sandboxed guests, and images of them.
//
//	m := linear.New(32<<20, budget) // what wazero gets from experimental.WithMemoryAllocator
//	image, err := linear.Capture(m) // after the start of the guest
//	…
//	err = other.Adopt(image)        // another instance: it begins where the first one was
//	ok := other.Restore()           // after each call: as the image again
//	other.Release()                 // and not before the last call is over
//
// A guest begins every call with the memory that it had after its start. What it wrote in the call before is undone, all
// of it, however the call ended. On Linux that costs in proportion to what was written, and next to nothing for the rest
// of the memory.
//
// # On Linux
//
// A memory is a range of address space, reserved up to its maximum and opened as the guest grows, so that it never moves.
// An image is a sealed file without a name (memfd_create) that holds the pages that are not zero. A memory that adopts it
// maps the file copy on write: its pages are those of the image, shared by all, until the guest writes to one and gets a
// copy of its own. What lies behind the last byte of an image that is not zero is not mapped from the file; those pages
// are fresh ones.
//
// Restore asks the kernel which pages are the memory's own (the PAGEMAP_SCAN request, or /proc/self/pagemap where the
// kernel is older than 6.7) and makes each of them as the image again, in one of two ways:
//
//   - A page that is written again and again is copied back and stays the memory's own. The next call writes to it
//     without a page fault, which costs several times what the copy does, and there is nothing for other threads to hear
//     of.
//   - Any other page is dropped (MADV_DONTNEED), and is the image's page again.
//
// A page that is written for the first time is dropped, so that one call that goes through the whole memory leaves
// nothing behind. Written once more, it is kept until several calls in a row have left it alone. No more than 4 MiB are
// kept in any one memory. Restore works out nothing in advance that it would then rely on: what the kernel reports is
// compared with the image byte for byte, or dropped.
//
// That the kernel reports the right pages is tried out when an image is captured. Where it does not, or will not tell,
// Restore drops everything, and all is well but for the time. Where pages cannot be dropped, since the process has locked
// its memory, they are copied.
//
// A memory takes at most three mappings: the pages of the image, the zero pages behind them, and the address space that
// is left to grow into. An image takes one more, and two descriptors.
//
// # Elsewhere
//
// On other systems, and on Linux where address space or a file is refused, a memory is a Go slice that grows by a quarter
// more than is asked for, an image keeps the granules of 4 KiB that are not zero, and Restore compares every granule and
// copies those that differ. What a caller sees is the same.
//
// The two ways can be mixed: a slice can adopt a file, and mapped memory a kept image. Both copy.
package linear
