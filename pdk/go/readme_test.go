package pdk_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadme builds and tests the programs of README.md: the blocks whose first line is "```go FOLDER/FILE".
func TestReadme(t *testing.T) {
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	folders := map[string]bool{}
	for _, block := range strings.Split(string(data), "\n```go ")[1:] {
		name, code, _ := strings.Cut(block, "\n")
		code, _, closed := strings.Cut(code, "\n```\n")
		if !closed {
			t.Fatalf("the block %s has no end", name)
		}
		folder := filepath.Join(root, filepath.Dir(name))
		write(t, filepath.Join(root, name), code+"\n")
		write(t, filepath.Join(folder, "go.mod"), "module "+filepath.Dir(name)+"\n\ngo 1.26\n\n"+
			"require github.com/weft-run/weft/pdk/go v0.0.0\n\nreplace github.com/weft-run/weft/pdk/go => "+here+"\n")
		folders[folder] = true
	}
	if len(folders) != 4 {
		t.Fatalf("four plugins were wanted in README.md, %d are there", len(folders))
	}
	for folder := range folders {
		run(t, folder, nil, "test", ".")
		run(t, folder, []string{"GOOS=wasip1", "GOARCH=wasm"},
			"build", "-buildmode=c-shared", "-ldflags=-s -w", "-trimpath", "-o", "plugin.wasm", ".")
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, folder string, env []string, args ...string) {
	t.Helper()
	command := exec.Command("go", args...)
	command.Dir = folder
	command.Env = append(os.Environ(), env...)
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
