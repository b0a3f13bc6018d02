package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/weft-run/weft/internal/wat"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"weft": main, "weft-test-files": serveFiles})
}

// TestScripts runs the command lines in testdata/script. They find the plugins greeter.wasm and trap.wasm beside them, and
// after the commands build clock and build script clock.wasm and script.wasm, which are built with Go. Scenarios are in $SCENARIOS.
func TestScripts(t *testing.T) {
	plugins := map[string][]byte{
		"greeter.wasm": wat.Assemble(t, "../../host/config/testdata/greeter.wat"),
		"trap.wasm":    wat.Assemble(t, "testdata/trap.wat"),
	}
	scenarios, err := filepath.Abs("../../conformance/scenarios")
	if err != nil {
		t.Fatal(err)
	}
	built := t.TempDir()
	goPlugins := map[string]func() ([]byte, error){
		"clock":  sync.OnceValues(func() ([]byte, error) { return buildPlugin("plugins/clock", built) }),
		"script": sync.OnceValues(func() ([]byte, error) { return buildPlugin("conformance/guests/script", built) }),
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
			"code": exitCode,
			"mode": fileMode,
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

// fileMode compares the permissions of a file: mode 0600 chat.json.
func fileMode(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if have := info.Mode().String(); have != args[0] {
		ts.Fatalf("mode %s was wanted, and it is %s", args[0], have)
	}
}
