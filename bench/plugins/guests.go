package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Who does the work: providers and middleware in Go, or plugins from one language.
const (
	native    = "native"
	guestC    = "c"
	guestRust = "rust"
)

// languages are those of the plugins; guestNames are all, native first.
var (
	languages  = []string{guestC, guestRust}
	guestNames = append([]string{native}, languages...)
)

// shelf is the folder in which the guests lie.
type shelf string

// module reads one guest.
func (s shelf) module(language, guest string) ([]byte, error) {
	wasm, err := os.ReadFile(filepath.Join(string(s), language, guest+".wasm"))
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("guest %s in %s is not built: run scripts/bench-guests plugins-%s, which says what it lacks: %w", guest, language, language, err)
	}
	return wasm, err
}
