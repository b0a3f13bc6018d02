// Command peers runs the same conversation turn through Weft and through other agent frameworks for Go, and says what each
// of them took:
//
//	cd bench/peers && go run . -rounds 15
//
// A turn is one message to a session that holds 10, 1,000 or 10,000 messages: four context providers beside the history, two
// wrappers around the model, one tool round, then the answer, and what was said is stored. The model is scripted and answers
// at once, so what is measured is the framework. weft.go, eino.go and adk.go say what stands for what.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

func main() {
	rounds := flag.Int("rounds", 15, "how many times each case is measured; the table has the medians")
	out := flag.String("out", "../results/core.json", "the file that the rows are written to; empty for none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *rounds, *out); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// run measures, prints the table and writes the file.
func run(ctx context.Context, w io.Writer, rounds int, out string) error {
	if rounds < 1 {
		return fmt.Errorf("-rounds is %d: at least 1 is needed", rounds)
	}
	rows, err := compare(ctx, frameworks(), histories, rounds)
	if err != nil {
		return err
	}
	table(w, rows, rounds)
	if out == "" {
		return nil
	}
	data, err := json.Marshal(rows, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(data, '\n'), 0o644)
}

// table prints the rows as Markdown, under a line that says on what they were measured.
func table(w io.Writer, rows []row, rounds int) {
	fmt.Fprintf(w, "%s, %s/%s, %d CPUs, medians of %d interleaved rounds; %s\n\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), rounds, strings.Join(versions(), ", "))
	fmt.Fprintln(w, "| framework | history |   µs/run | allocations |      bytes | ratio to weft |")
	fmt.Fprintln(w, "|-----------|--------:|---------:|------------:|-----------:|--------------:|")
	for _, r := range rows {
		fmt.Fprintf(w, "| %-9s | %7d | %8.1f | %11d | %10d | %13.1f |\n", r.Framework, r.History, r.Micros, r.Allocs, r.Bytes, r.Ratio)
	}
}

// versions names the peers as they are built in.
func versions() []string {
	var out []string
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return out
	}
	for _, m := range info.Deps {
		if m.Path == einoModule || m.Path == adkModule {
			out = append(out, m.Path+" "+m.Version)
		}
	}
	return out
}
