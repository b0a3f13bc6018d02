//go:build !unix

package engine

import (
	"fmt"
	"io/fs"
	"os"
)

// checkOwned says whether a path is a folder. Who owns it and who may write to it is left to the system's own defaults
// for the folders of a user.
func checkOwned(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 || !info.IsDir() {
		return fmt.Errorf("%s is not a folder", path)
	}
	return nil
}
