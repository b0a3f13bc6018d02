package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// guest is a module that was built by scripts/bench-guests.
type guest struct {
	name string
	wasm []byte
}

// The guests that do the work, one for each language; goExtism is a second one in Go, written with Extism's PDK and
// encoding/json.
const (
	guestC        = "c"
	guestRust     = "rust"
	guestAS       = "as"
	guestGo       = "go"
	guestGoExtism = "go-extism"
)

var guestNames = []string{guestC, guestRust, guestAS, guestGo, guestGoExtism}

// Guests of which there is one.
const (
	guestIndex = "index" // prepares 50 MB in init
	guestSpin  = "spin"  // never comes back
)

// shelf is the folder in which the guests lie.
type shelf string

// guest reads one guest.
func (s shelf) guest(name string) (guest, error) {
	wasm, err := os.ReadFile(filepath.Join(string(s), name+".wasm"))
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("guest %s is not built: run scripts/bench-guests, which says what it lacks: %w", name, err)
	}
	return guest{name, wasm}, err
}
