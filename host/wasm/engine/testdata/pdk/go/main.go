// Command guest is a plugin written with Extism's PDK for Go, as its authors would write one.
package main

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/extism/go-pdk"
)

// echo puts out its input.
//
//go:wasmexport echo
func echo() int32 {
	pdk.Output(pdk.Input())
	return 0
}

// shout puts out its input in upper case.
//
//go:wasmexport shout
func shout() int32 {
	pdk.Output(bytes.ToUpper(pdk.Input()))
	return 0
}

// greet greets whom it is given, in the words of its config.
//
//go:wasmexport greet
func greet() int32 {
	greeting, ok := pdk.GetConfig("greeting")
	if !ok {
		greeting = "hello"
	}
	pdk.OutputString(greeting + ", " + pdk.InputString())
	return 0
}

// count counts in a var how often it was called.
//
//go:wasmexport count
func count() int32 {
	calls := 0
	if before := pdk.GetVar("calls"); before != nil {
		var err error
		if calls, err = strconv.Atoi(string(before)); err != nil {
			pdk.SetError(err)
			return 1
		}
	}
	pdk.SetVar("calls", []byte(strconv.Itoa(calls+1)))
	pdk.Output(pdk.GetVar("calls"))
	return 0
}

// forget sets a var and removes it.
//
//go:wasmexport forget
func forget() int32 {
	pdk.SetVar("secret", []byte("a secret"))
	pdk.RemoveVar("secret")
	if left := pdk.GetVar("secret"); left != nil {
		pdk.Output(left)
		return 0
	}
	pdk.OutputString("forgotten")
	return 0
}

// logs logs its input at every level.
//
//go:wasmexport logs
func logs() int32 {
	text := pdk.InputString()
	for _, level := range []pdk.LogLevel{pdk.LogTrace, pdk.LogDebug, pdk.LogInfo, pdk.LogWarn, pdk.LogError} {
		pdk.Log(level, text)
	}
	return 0
}

// fails fails, and says why.
//
//go:wasmexport fails
func fails() int32 {
	pdk.SetError(fmt.Errorf("cannot do %s", pdk.InputString()))
	return 3
}

// fetch puts out what a page says.
//
//go:wasmexport fetch
func fetch() int32 {
	response := pdk.NewHTTPRequest(pdk.MethodGet, pdk.InputString()).Send()
	pdk.OutputMemory(response.Memory())
	return 0
}

// panics panics.
//
//go:wasmexport panics
func panics() int32 {
	panic("no such thing")
}

func main() {}
