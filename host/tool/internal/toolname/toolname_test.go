package toolname

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-run/weft/host"
)

func TestCheck(t *testing.T) {
	for _, good := range []string{"a", "read_file-2", strings.Repeat("a", 64)} {
		assert.NoError(t, Check(good))
	}
	for _, bad := range []string{"", "read file", "a.b", "é", "а", "a\n", "a\x00", strings.Repeat("a", 65)} {
		assert.ErrorIs(t, Check(bad), host.ErrToolName, bad)
	}
}

func TestClean(t *testing.T) {
	for name, want := range map[string]string{
		"Trip planner": "Trip_planner", "files/read.all": "files_read_all", " a  b ": "a_b", "каждый": "", "é1": "1", "": "", "_a_": "_a_",
	} {
		assert.Equal(t, want, Clean(name), name)
	}
}
