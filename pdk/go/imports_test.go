package pdk_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A plugin imports the functions of the host that it can reach, and no others: a host that does not have the others can
// load it all the same.
func TestAPluginImportsOnlyWhatItUses(t *testing.T) {
	const always = "alloc free input_length input_load_u8 input_load_u64 length load_u8 load_u64 output_set store_u8 store_u64"
	for _, c := range []struct {
		name, body string
		env, user  string // what it may import
	}{
		{
			"the smallest",
			`pdk.BeforeRun(func(in *pdk.In, out *pdk.ContextOut) error { out.ExtendInstructions(in.Input()[0].Text()); return nil })`,
			"alloc input_length input_load_u8 input_load_u64 output_set store_u8 store_u64", "",
		},
		{"middleware", `pdk.ProcessChat(func(c *pdk.ChatContext) error { c.Append(pdk.User("x")); return c.Next() })`, always, "call_next"},
		{"all layers", `pdk.Process(pdk.Layers{})`, always, ""},
		{
			"storage and messages",
			`pdk.AfterRun(func(in *pdk.In, _ *pdk.RunOut) error { in.Messages(); _, err := pdk.KV(pdk.ScopeAgent).Set("k", "1"); return err })`,
			always, "get_messages kv_set",
		},
		{
			"HTTP", `pdk.AfterRun(func(*pdk.In, *pdk.RunOut) error { _, err := pdk.HTTP(pdk.HTTPRequest{}); return err })`,
			always + " http_headers http_request http_status_code", "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			wasm := built(t, "package main\n\nimport \"github.com/weft-run/weft/pdk/go\"\n\n//go:wasmexport hook\nfunc hook() int32 {\n\treturn "+
				c.body+"\n}\n\nfunc main() {}\n")
			env, user := imports(t, wasm)
			for _, name := range env {
				if !slices.Contains(strings.Fields(c.env), name) {
					t.Errorf("it imports extism:host/env %s", name)
				}
			}
			if !slices.Equal(user, strings.Fields(c.user)) {
				t.Errorf("it imports %q of extism:host/user, wanted %q", user, c.user)
			}
		})
	}
}

// built is a plugin of one file as a module.
func built(t *testing.T, source string) []byte {
	t.Helper()
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	write(t, filepath.Join(folder, "main.go"), source)
	write(t, filepath.Join(folder, "go.mod"), "module example.com/plugin\n\ngo 1.26\n\nrequire github.com/weft-run/weft/pdk/go v0.0.0\n\n"+
		"replace github.com/weft-run/weft/pdk/go => "+here+"\n")
	run(t, folder, []string{"GOOS=wasip1", "GOARCH=wasm"},
		"build", "-buildmode=c-shared", "-ldflags=-s -w", "-trimpath", "-o", "plugin.wasm", ".")
	wasm, err := os.ReadFile(filepath.Join(folder, "plugin.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

// imports are the names that a module imports from Extism's two modules, sorted.
func imports(t *testing.T, wasm []byte) (env, user []string) {
	t.Helper()
	const importSection = 2
	number := func(b []byte) (int, []byte) {
		n, size := binary.Uvarint(b)
		return int(n), b[size:]
	}
	name := func(b []byte) (string, []byte) {
		n, b := number(b)
		return string(b[:n]), b[n:]
	}
	for rest := wasm[8:]; len(rest) > 0; {
		id := rest[0]
		size, section := number(rest[1:])
		rest = section[size:]
		if id != importSection {
			continue
		}
		count, b := number(section[:size])
		for range count {
			var module, function string
			module, b = name(b)
			function, b = name(b)
			_, b = number(b[1:]) // all are functions, with the index of a type
			switch module {
			case "extism:host/env":
				env = append(env, function)
			case "extism:host/user":
				user = append(user, function)
			}
		}
	}
	if env == nil {
		t.Fatal("it imports nothing at all")
	}
	slices.Sort(env)
	slices.Sort(user)
	return env, user
}
