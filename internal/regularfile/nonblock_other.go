//go:build !unix

package regularfile

// nonblock is not needed where pipes have no place among the files.
const nonblock = 0
