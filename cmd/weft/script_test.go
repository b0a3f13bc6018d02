package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/weft-run/weft/internal/wat"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"weft": main, "weft-test-files": serveFiles})
}

// TestScripts runs the command lines in testdata/script. They find the plugins greeter.wasm, trap.wasm, notes.wasm and
// guard.wasm beside them, and after a command such as build clock also clock.wasm, which is built with Go. Scenarios are in
// $SCENARIOS.
func TestScripts(t *testing.T) {
	plugins := map[string][]byte{
		"greeter.wasm": wat.Assemble(t, "../../host/config/testdata/greeter.wat"),
		"trap.wasm":    wat.Assemble(t, "testdata/trap.wat"),
		"notes.wasm": wat.Guest(t, map[string][]string{
			"describe": {`{"name":"notes","version":"0.3.0","source_id":"notes","state_version":2,
				"config_schema":{"type":"object","properties":{"base_url":{"type":"string"}}},
				"grants":{"read":["input","context:in_memory"],"add":["messages","tools"],"kv":["session"],
					"http":[{"origin":"https://api.example.com","methods":["GET"],"secrets":["api_key"]}]}}`},
			"before_run": {`{}`}, "call_tool": {`{}`},
		}, "extism:host/env http_request"),
		"guard.wasm": wat.Guest(t, map[string][]string{
			"describe": {`{"name":"guard","layers":["chat"],"grants":{"change":["result"]}}`},
			"process":  {`{"response":{"text":"The guard answers."}}`},
		}, "extism:host/user call_next"),
	}
	scenarios, err := filepath.Abs("../../conformance/scenarios")
	if err != nil {
		t.Fatal(err)
	}
	built := t.TempDir()
	goPlugins := map[string]func() ([]byte, error){
		"clock":   sync.OnceValues(func() ([]byte, error) { return buildPlugin("plugins/clock", built) }),
		"docs":    sync.OnceValues(func() ([]byte, error) { return buildPlugin("plugins/docs", built) }),
		"guard":   sync.OnceValues(func() ([]byte, error) { return buildPlugin("plugins/guard", built) }),
		"summary": sync.OnceValues(func() ([]byte, error) { return buildPlugin("plugins/summary", built) }),
		"script":  sync.OnceValues(func() ([]byte, error) { return buildPlugin("conformance/guests/script", built) }),
	}

	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("SCENARIOS", scenarios)
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, ".cache"))
			for name, module := range plugins {
				if err := os.WriteFile(filepath.Join(e.WorkDir, name), module, 0o600); err != nil {
					return err
				}
			}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"build": func(ts *testscript.TestScript, _ bool, args []string) {
				module, err := goPlugins[args[0]]()
				ts.Check(err)
				ts.Check(os.WriteFile(ts.MkAbs(args[0]+".wasm"), module, 0o600))
			},
			"code":    exitCode,
			"cmpfrom": compareFrom,
			"mode":    fileMode,
		},
	})
}

// buildPlugin builds a plugin of this repository, as the Makefile does.
func buildPlugin(folder, into string) ([]byte, error) {
	file := filepath.Join(into, filepath.Base(folder)+".wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-trimpath", "-o", file, ".")
	cmd.Dir = filepath.Join("..", "..", filepath.FromSlash(folder))
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build plugin %s: %w\n%s", folder, err, text)
	}
	return os.ReadFile(file)
}

// exitCode runs a command line and compares its exit code: code 2 weft run --nonsense.
func exitCode(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: code CODE COMMAND…")
	}
	err := ts.Exec(args[1], args[2:]...)
	have := "0"
	if exit, ok := err.(*exec.ExitError); ok {
		have = exit.String()[len("exit status "):]
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if have != args[0] {
		ts.Fatalf("exit code %s was wanted, and it is %s", args[0], have)
	}
}

// compareFrom compares standard output, from the line on that begins with a text, with a file: cmpfrom 'in weft.yaml' want.txt.
func compareFrom(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: cmpfrom TEXT FILE")
	}
	_, have, found := strings.Cut("\n"+ts.ReadFile("stdout"), "\n"+args[0])
	if !found {
		ts.Fatalf("no line of standard output begins with %q", args[0])
	}
	if want := ts.ReadFile(args[1]); args[0]+have != want {
		ts.Fatalf("%s was wanted:\n%s\nand there is:\n%s", args[1], want, args[0]+have)
	}
}

// fileMode compares the permissions of a file: mode 0600 chat.json.
func fileMode(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if have := info.Mode().String(); have != args[0] {
		ts.Fatalf("mode %s was wanted, and it is %s", args[0], have)
	}
}
