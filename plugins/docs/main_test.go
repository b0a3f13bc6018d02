package main

import (
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/weft-run/weft/pdk/go/pdktest"
)

// mounted makes testdata/mount the root of what the plugin sees, as a host does that was granted its folders.
func mounted(t *testing.T) {
	ready = nil
	openFolder = func(folder string) fs.FS { return os.DirFS("testdata/mount" + folder) }
	t.Cleanup(func() {
		ready = nil
		openFolder = func(folder string) fs.FS { return os.DirFS(folder) }
	})
}

func TestCases(t *testing.T) {
	pdktest.Cases{
		Hooks: pdktest.Hooks{"describe": describe, "init": initialise, "before_run": beforeRun},
		Begin: func(t *testing.T, _ time.Time) { mounted(t) },
	}.Test(t)
}
