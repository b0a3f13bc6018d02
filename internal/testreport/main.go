// Command testreport reads the output of `go test -json` and prints what a person wants to know of it: each package as it
// is done, each failure with its output, each skipped test with its reason, and the counts. It exits with 1 if anything
// failed.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// event is one line of test2json.
type event struct {
	Action     string
	Package    string
	Test       string
	Output     string
	ImportPath string
	Elapsed    float64
}

// counted are lines that tests print for the summary.
var counted = regexp.MustCompile(`scenarios (native|wasm): .*`)

func main() {
	failed, err := report(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(2)
	}
	if failed {
		os.Exit(1)
	}
}

func report(in io.Reader, out io.Writer) (failed bool, err error) {
	var passed, failures, packages int
	var skipped, counts []string
	output := map[string][]string{}
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, 16<<20)
	for scanner.Scan() {
		var e event
		if json.Unmarshal(scanner.Bytes(), &e) != nil {
			fmt.Fprintln(out, scanner.Text())
			// go itself says something when it downloads a module, and when it cannot even begin.
			failed = failed || !strings.HasPrefix(scanner.Text(), "go: downloading ")
			continue
		}
		key := e.Package + " " + e.Test
		switch e.Action {
		case "output":
			output[key] = append(output[key], e.Output)
			if line := counted.FindString(e.Output); line != "" && !slices.Contains(counts, line) {
				counts = append(counts, line)
			}
		case "build-output":
			fmt.Fprint(out, e.Output)
		case "build-fail":
			failures++
		case "pass":
			if e.Test == "" {
				packages++
				fmt.Fprintf(out, "ok   %s (%.1f s)\n", e.Package, e.Elapsed)
			} else {
				passed++
			}
			delete(output, key)
		case "fail":
			if e.Test != "" {
				failures++
			} else {
				failed = true
			}
			fmt.Fprintf(out, "FAIL %s\n%s", key, strings.Join(output[key], ""))
			delete(output, key)
		case "skip":
			if e.Test != "" {
				skipped = append(skipped, key+": "+reason(output[key]))
			}
			delete(output, key)
		}
	}
	slices.Sort(counts)
	for _, line := range counts {
		fmt.Fprintln(out, line)
	}
	if len(skipped) > 0 {
		fmt.Fprintln(out, "skipped:")
		for _, s := range skipped {
			fmt.Fprintln(out, "  "+s)
		}
	}
	fmt.Fprintf(out, "%d packages with tests\n%d passed, %d failed, %d skipped\n", packages, passed, failures, len(skipped))
	return failed || failures > 0, scanner.Err()
}

// reason is what a skipped test said, without the frame around it.
func reason(lines []string) string {
	for _, l := range lines {
		if _, text, ok := strings.Cut(strings.TrimSpace(l), ".go:"); ok {
			if _, text, ok = strings.Cut(text, ": "); ok {
				return text
			}
		}
	}
	return "no reason given"
}
