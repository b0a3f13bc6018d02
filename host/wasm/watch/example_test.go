package watch_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/weft-run/weft/host/wasm/watch"
)

func ExampleWatcher_File() {
	dir, err := os.MkdirTemp("", "watch")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "plugin.wasm")

	w, err := watch.New(watch.Options{Settle: 10 * time.Millisecond})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	versions := make(chan watch.File)
	// There is no file yet, and no version that the caller has.
	stop, err := w.File(path, 10<<20, [32]byte{}, func(f watch.File) { versions <- f })
	if err != nil {
		log.Fatal(err)
	}
	defer stop()

	if err := os.WriteFile(path+".new", []byte("version 1"), 0o600); err != nil {
		log.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		log.Fatal(err)
	}
	f := <-versions
	fmt.Printf("%s %x %v\n", f.Data, f.SHA256[:4], f.Err)
	// Output: version 1 b19f8eda <nil>
}
