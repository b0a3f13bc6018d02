package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host/kv"
	"github.com/weft-run/weft/host/kv/sqlite"
)

// What was set is there when the file is opened again.
func ExampleOpen() {
	folder, err := os.MkdirTemp("", "kv")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	ctx := context.Background()
	ns := kv.Namespace{Agent: "guide", Plugin: "clock", Scope: kv.ScopeAgent}
	for range 2 {
		store, err := sqlite.Open(ctx, filepath.Join(folder, "kv.db"), kv.Options{})
		if err != nil {
			panic(err)
		}
		e, found, err := store.Get(ctx, ns, "city")
		fmt.Printf("%q %t %v\n", string(e.Value), found, err)
		if _, err := store.Set(ctx, ns, "city", jsontext.Value(`"Oslo"`), kv.SetOptions{}); err != nil {
			panic(err)
		}
		if err := store.Close(); err != nil {
			panic(err)
		}
	}
	// Output:
	// "" false <nil>
	// "\"Oslo\"" true <nil>
}
