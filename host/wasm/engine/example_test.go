package engine_test

import (
	"context"
	"fmt"
	"log"

	"github.com/weft-run/weft/host/wasm/engine"
)

// answers is a module with one function, which returns 42.
var answers = []byte("\x00asm\x01\x00\x00\x00" + // a module of version 1
	"\x01\x05\x01\x60\x00\x01\x7f" + // a type: () -> i32
	"\x03\x02\x01\x00" + // a function of that type
	"\x07\x0a\x01\x06answer\x00\x00" + // exported as answer
	"\x0a\x06\x01\x04\x00\x41\x2a\x0b") // i32.const 42

func Example() {
	ctx := context.Background()
	e := engine.New(engine.Options{})
	defer e.Close(ctx)
	m, err := e.Load(ctx, answers, engine.Spec{Name: "deep-thought"})
	if err != nil {
		log.Fatal(err)
	}
	result, err := m.Call(ctx, engine.Call{Export: "answer"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Code)

	_, err = m.Call(ctx, engine.Call{Export: "question"})
	fmt.Println(err)
	// Output:
	// 42
	// deep-thought: no export question: export a function of that name, () -> i32
}

func ExampleInspect() {
	info, err := engine.Inspect(answers)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(info.Size, info.Functions, info.Exports[0].Name, info.Callable("answer"))

	_, err = engine.Inspect([]byte("<html>"))
	fmt.Println(err)
	// Output:
	// 39 1 answer true
	// not a WebAssembly module: looks like an HTML page, perhaps the error page of a download: a module begins with "\0asm"; check which file this is
}
