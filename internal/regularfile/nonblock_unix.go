//go:build unix

package regularfile

import "syscall"

// NonBlock lets a pipe be opened without waiting for its writer; it means nothing for a regular file.
const NonBlock = syscall.O_NONBLOCK
