package config

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/model/offline"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestFaults reads each testdata/faults/*.yaml and compares all that is wrong with it.
func TestFaults(t *testing.T) {
	files, err := filepath.Glob("testdata/faults/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			name := folder(t)
			_, err = Parse(name, data)
			var faults *Errors
			require.ErrorAs(t, err, &faults)
			for _, f := range faults.Faults {
				assert.Equal(t, name, f.File)
				assert.Positive(t, f.Line)
				assert.Positive(t, f.Column)
			}
			have := strings.ReplaceAll(err.Error(), name, "weft.yaml") + "\n"
			golden := strings.TrimSuffix(file, ".yaml") + ".txt"
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(have), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), have)
		})
	}
}

// TestHostileFiles holds configs that are no configs to one error in little time.
func TestHostileFiles(t *testing.T) {
	billion := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'j'; c++ {
		p := string(c - 1)
		billion += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+p+",", 8) + "*" + p + "]\n"
	}
	for name, c := range map[string]struct{ data, want string }{
		"empty":            {"", "the config is empty"},
		"comment":          {"# nothing\n", "the config is empty"},
		"billion laughs":   {billion, "anchors and aliases are not read"},
		"deep flow":        {strings.Repeat("[", 500_000), "at most 50000 are read"},
		"deep flow closed": {strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), "nests deeper than 64 levels"},
		"deep block":       {strings.Repeat("- ", 20_000) + "x", "nests deeper than 64 levels"},
		"deep keys":        {strings.Repeat("? ", 20_000) + "x", "nests deeper than 64 levels"},
		"deep indent":      {deepIndent(200), "nests deeper than 64 levels"},
		"many keys":        {strings.Repeat("a: b\n", 100_000), "at most 50000 are read"},
		"too large":        {"name: " + strings.Repeat("x", maxSize), "a config has at most 1048576"},
		"not UTF-8":        {"name: a\nx: \xff", "2:4: the byte 0xff is no text"},
		"NUL":              {"name: \x00", "1:7: the byte 0x00 is no text"},
		"escape sequence":  {"name: \x1b[2J", "1:7: the byte 0x1b is no text"},
		"two documents":    {"name: a\n---\nname: b\n", "a second document begins"},
		"list":             {"- a\n", "a mapping of name, description, instructions"},
		"text":             {"hello", "a mapping of name"},
		"tab":              {"options:\n\ttop_p: 1\n", "2:1: not valid YAML: found a tab that cannot start any token: indent with spaces"},
		"open bracket":     {"providers: [", "not valid YAML"},
		"directive":        {"%YAML 1.2\n---\nname: a\n", "directive"},
		"tag":              {"name: !!binary aGk=\n", `the tag "!!binary" is not read`},
		"merge":            {"<<: {name: a}\n", "the merge key << is not read"},
		"odd key":          {"? [a]\n: b\n", "found an invalid key"},
		"null key":         {"~: b\n", "a key must be text"},
		"control in key":   {"\"a\\e[2J\": 1\n", `unknown key "a\x1b[2J"`},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := Parse("weft.yaml", []byte(c.data))
			require.ErrorContains(t, err, c.want)
			var faults *Errors
			require.ErrorAs(t, err, &faults)
			assert.Less(t, time.Since(start), 10*time.Second)
			assert.NotContains(t, err.Error(), "\x1b")
		})
	}
}

func deepIndent(levels int) string {
	var b strings.Builder
	for i := range levels {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func TestManyFaultsAreCut(t *testing.T) {
	var b strings.Builder
	for range 250 {
		b.WriteString("- {}\n")
	}
	_, err := Parse("weft.yaml", []byte("providers:\n"+b.String()))
	var faults *Errors
	require.ErrorAs(t, err, &faults)
	assert.Len(t, faults.Faults, maxFaults)
	assert.Equal(t, 150, faults.More)
	assert.Contains(t, err.Error(), "weft.yaml has 250 faults:")
	assert.Contains(t, err.Error(), "and 150 more")
}

// FuzzParse looks for a config that makes the reader panic, or that it takes and cannot have understood.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yaml")
	require.NoError(f, err)
	more, err := filepath.Glob("testdata/faults/*.yaml")
	require.NoError(f, err)
	for _, file := range append(files, more...) {
		data, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(data)
	}
	name := folder(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse(name, data)
		var faults *Errors
		switch {
		case err == nil && c == nil:
			t.Fatal("neither a config nor an error")
		case err != nil && !errors.As(err, &faults):
			t.Fatalf("%T", err)
		case err == nil:
			require.NotEmpty(t, c.Name)
			require.Contains(t, ModelProviders(), c.Model.Provider)
			require.NoError(t, c.Model.Check())
			if s, ok := finished(c.Compaction, offline.New(offline.Config{}), nil).(host.Checker); ok {
				require.NoError(t, s.Check())
			}
			for _, g := range c.Middleware {
				require.True(t, g.Plugin != nil || !reflect.ValueOf(g.guard(nil, nil)).IsZero())
			}
			_ = c.Approvals.Policy()
		}
	})
}
