//go:build !unix

package regularfile

// NonBlock is not needed where pipes have no place among the files.
const NonBlock = 0
