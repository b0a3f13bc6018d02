//go:build !unix

package watch

import "os"

// mkfifo makes a folder where there are no named pipes among the files.
func mkfifo(path string) error { return os.Mkdir(path, 0o700) }
