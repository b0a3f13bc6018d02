// Package weft holds the test of the README: its commands are run, and what they print is compared.
package weft

import (
	"flag"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/internal/testneed"
)

var update = flag.Bool("update", false, "write what the README's commands print into it")

// block is a console block of the README; command is a line of it that starts with "$ ".
var (
	block   = regexp.MustCompile("(?s)```console\n(.*?)```")
	command = regexp.MustCompile(`(?m)^\$ (.*)\n((?:[^$\n].*\n|\n)*)`)
)

// What differs from run to run: times, sizes, dates, versions, digests, and the width of columns.
var volatile = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\d+(\.\d+)?(ns|µs|ms|s)\b`), "TIME"},
	{regexp.MustCompile(`\d+(\.\d+)?(KiB|MiB|B)\b`), "SIZE"},
	{regexp.MustCompile(`\d+ (bytes|functions)`), "N $1"},
	{regexp.MustCompile(`\d+ (input|output) tokens`), "N $1 tokens"},
	{regexp.MustCompile(`\b[0-9a-f]{64}\b`), "DIGEST"},
	{regexp.MustCompile(`Go 1\.\d+(\.\d+)?`), "GO"},
	{regexp.MustCompile(`(?m)[ \t]+`), " "},
	{regexp.MustCompile(`(?m)^weft: loading .*\n`), ""},
}

func normal(text string) string {
	for _, v := range volatile {
		text = v.pattern.ReplaceAllString(text, v.instead)
	}
	return text
}

func TestReadmeShowsWhatWasRun(t *testing.T) {
	testneed.Tool(t, "make", "GNU make")
	data, err := os.ReadFile("README.md")
	require.NoError(t, err)
	readme := string(data)
	shell(t, "make -s build")
	for _, b := range block.FindAllStringSubmatch(readme, -1) {
		shown := command.FindAllStringSubmatch(b[1], -1)
		if strings.Contains(b[1], "make test") {
			continue // the two commands that stand first run this test, or wait for a person
		}
		written := ""
		for _, c := range shown {
			printed := shell(t, c[1])
			written += "$ " + c[1] + "\n" + printed
			if !*update {
				require.Equal(t, normal(c[2]), normal(printed), c[1])
			}
		}
		readme = strings.Replace(readme, b[1], written, 1)
	}
	if *update {
		require.NoError(t, os.WriteFile("README.md", []byte(readme), 0o644))
	}
}

// shell runs a command line as a user would, and returns its standard output.
func shell(t *testing.T, line string) string {
	t.Helper()
	var stderr strings.Builder
	cmd := exec.Command("bash", "-c", line)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s\n%s", line, stderr.String())
	return string(out)
}
