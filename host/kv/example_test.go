package kv_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host/kv"
)

// A write for a version holds only as long as nobody else wrote.
func Example() {
	ctx := context.Background()
	store := kv.NewMemory(kv.Options{})
	defer store.Close()
	ns := kv.Namespace{Agent: "guide", Plugin: "clock", Scope: kv.ScopeSession, Session: "s1"}

	read, err := store.Set(ctx, ns, "city", jsontext.Value(`"Oslo"`), kv.SetOptions{})
	if err != nil {
		panic(err)
	}
	if _, err := store.Set(ctx, ns, "city", jsontext.Value(`"Bergen"`), kv.SetOptions{}); err != nil { // somebody else
		panic(err)
	}
	_, err = store.Set(ctx, ns, "city", jsontext.Value(`"Tromsø"`), kv.SetOptions{IfVersion: &read})
	fmt.Println(errors.Is(err, kv.ErrConflict), err)
	e, _, _ := store.Get(ctx, ns, "city")
	fmt.Println(e.Value, e.Version)
	// Output:
	// true key "city": version 1 was wanted, and version 2 is there: read it again, and write with the version that you read
	// "Bergen" 2
}

// Keys are listed page by page.
func ExampleMemory_List() {
	ctx := context.Background()
	store := kv.NewMemory(kv.Options{})
	defer store.Close()
	ns := kv.Namespace{Agent: "guide", Plugin: "todo", Scope: kv.ScopeAgent}
	for _, key := range []string{"done/1", "open/1", "open/2", "open/3"} {
		if _, err := store.Set(ctx, ns, key, jsontext.Value(`true`), kv.SetOptions{}); err != nil {
			panic(err)
		}
	}
	options := kv.ListOptions{Prefix: "open/", Limit: 2}
	for {
		page, more, err := store.List(ctx, ns, options)
		if err != nil {
			panic(err)
		}
		for _, e := range page {
			fmt.Println(e.Key)
		}
		if !more {
			break
		}
		options.After = page[len(page)-1].Key
		fmt.Println("and more:")
	}
	// Output:
	// open/1
	// open/2
	// and more:
	// open/3
}
