//go:build unix

package engine

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// checkOwned says whether a path is a folder, ours, that nobody else can write to.
func checkOwned(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a symbolic link: name the folder itself", path)
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", path)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%s can be written to by others (mode %04o): chmod 700 it", path, info.Mode().Perm())
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to user %d and not to user %d: use a folder of your own", path, stat.Uid, os.Geteuid())
	}
	return nil
}
