package abi_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	defined  = regexp.MustCompile(`(?m)^- \*\*([A-Z]{2,3}-\d+)\*\* `)
	referred = regexp.MustCompile(`\b(?:MOD|EXP|LIF|IN|OUT|PRO|UPD|HOK|TOL|HF|MSG|ERR|DSC|GRA|LIM|VER)-\d+\b`)
)

// Each clause has an id of its own, and every id that the code or the contract refers to is a clause.
func TestClausesExist(t *testing.T) {
	root := ".."
	contract, err := os.ReadFile(filepath.Join(root, "abi.md"))
	require.NoError(t, err)
	clauses := map[string]bool{}
	for _, m := range defined.FindAllStringSubmatch(string(contract), -1) {
		require.False(t, clauses[m[1]], "%s stands twice", m[1])
		clauses[m[1]] = true
	}
	require.Greater(t, len(clauses), 40)
	for _, id := range referred.FindAllString(string(contract), -1) {
		require.True(t, clauses[id], "abi.md refers to %s, which does not exist", id)
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "bin" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2) {
			return skip(d, err)
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		for _, id := range referred.FindAllString(string(source), -1) {
			require.True(t, clauses[id], "%s refers to %s, which does not exist", path, id)
		}
		return err
	})
	require.NoError(t, err)
}

func skip(d fs.DirEntry, err error) error {
	if err == nil && d.IsDir() {
		return fs.SkipDir
	}
	return err
}
