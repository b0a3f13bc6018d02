package watch

import (
	"io/fs"
	"syscall"
)

// nonblock lets a folder be opened without waiting for the other end of a pipe that took its place.
const nonblock = syscall.O_NONBLOCK

func identify(info fs.FileInfo) identity {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return identity{}
	}
	// Device numbers are narrower on some processors.
	return identity{device: uint64(stat.Dev), inode: stat.Ino, changed: stat.Ctim.Nano()} //nolint:unconvert
}
