//go:build !linux && !darwin

package watch

import "io/fs"

const nonblock = 0

// identify knows nothing here: a file is read more often than where it tells whether that is needed.
func identify(fs.FileInfo) identity { return identity{} }
