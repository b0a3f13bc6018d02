// Package testneed says what a test needs beyond the Go toolchain.
//
// A test that cannot have what it needs is skipped by name, and the summary at the end of `make test` lists it with the
// reason. Where CI=true it fails instead: on such a machine everything must have been installed.
package testneed

import (
	"os"
	"os/exec"
	"testing"
)

// Tool returns the path of the named program. Where it is not to be had, the test is skipped, or fails if CI=true;
// install says in a few words how to get it.
func Tool(t testing.TB, name, install string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("needs %s, which is not on PATH (%s); CI=true makes this a failure", name, install)
	}
	t.Skipf("needs %s, which is not on PATH (%s)", name, install)
	return ""
}
