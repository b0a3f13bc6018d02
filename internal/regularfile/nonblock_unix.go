//go:build unix

package regularfile

import "syscall"

// nonblock lets a pipe be opened without waiting for its writer; it means nothing for a regular file.
const nonblock = syscall.O_NONBLOCK
