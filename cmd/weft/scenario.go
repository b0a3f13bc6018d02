package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/conformance"
)

// scenarioFlags are what weft scenario is told beside the files.
type scenarioFlags struct {
	engine engineFlags
	wasm   bool
	guest  string
	strict bool
	json   bool
}

func newScenario(s streams) *cobra.Command {
	var flags scenarioFlags
	cmd := &cobra.Command{
		Use:   "scenario FILE…",
		Short: "Play recorded conversations and compare what is seen with what must be seen",
		Long: strings.TrimSpace(`
Play each file: a conversation as data, with an agent, a scripted model, the turns, and what must be seen. A file that
uses what a plugin cannot do is not played with --wasm; it is told what that is, and --strict counts it as failed.

Scripted providers and middleware are compiled natively, or, with --wasm, each is a WebAssembly plugin: the guest in
--guest, or else guests/script.wasm beside the weft program, or bin/guests/script.wasm in the current folder.`),
		Example:           "  weft scenario conformance/scenarios/*.json\n  weft scenario --wasm --strict a.json",
		Args:              between(1, math.MaxInt, "at least one file"),
		ValidArgsFunction: completeFiles("json"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			options, err := flags.options(cmd, s)
			if err != nil {
				return err
			}
			return flags.play(ctx, s, args, options)
		},
	}
	cmd.Flags().BoolVar(&flags.wasm, "wasm", false, "play scripted providers and middleware as WebAssembly plugins")
	cmd.Flags().StringVar(&flags.guest, "guest", "", "the plugin that plays what is scripted; needs --wasm")
	_ = cmd.RegisterFlagCompletionFunc("guest", completeFiles("wasm")) // the flag was defined above
	cmd.Flags().BoolVar(&flags.strict, "strict", false, "count what is not supported as failed")
	cmd.Flags().BoolVar(&flags.json, "json", false, "print a JSON object")
	flags.engine.add(cmd)
	return cmd
}

// options say how the files are played.
func (f *scenarioFlags) options(cmd *cobra.Command, s streams) (conformance.Options, error) {
	if !f.wasm {
		if f.guest != "" {
			return conformance.Options{}, &usageError{cmd, errors.New("--guest needs --wasm")}
		}
		return conformance.Options{}, nil
	}
	log, err := newLogger(s, "warn")
	if err != nil {
		return conformance.Options{}, err
	}
	e, err := f.engine.engine(cmd, log)
	if err != nil {
		return conformance.Options{}, err
	}
	guest, err := f.readGuest()
	return conformance.Options{Wasm: true, Guest: guest, Engine: e}, err
}

// readGuest reads the plugin that plays what is scripted.
func (f *scenarioFlags) readGuest() ([]byte, error) {
	if f.guest != "" {
		return readModule(f.guest)
	}
	places := []string{filepath.Join("bin", "guests", "script.wasm")}
	if program, err := os.Executable(); err == nil {
		places = append([]string{filepath.Join(filepath.Dir(program), "guests", "script.wasm")}, places...)
	}
	for _, place := range places {
		guest, err := readModule(place)
		if !errors.Is(err, fs.ErrNotExist) {
			return guest, err
		}
	}
	return nil, fmt.Errorf("the plugin that plays what is scripted is not there: looked for %s; build it with make build, or name it with --guest",
		strings.Join(places, " and "))
}

// scenarioReport is what weft scenario prints.
type scenarioReport struct {
	Results      []scenarioResult `json:"results"`
	Passed       int              `json:"passed"`
	Failed       int              `json:"failed"`
	NotSupported int              `json:"not_supported"`
}

// scenarioResult is one file's result. Error is why it could not be read.
type scenarioResult struct {
	*conformance.Result
	Error string `json:"error,omitempty"`
}

// play plays the files in order.
func (f *scenarioFlags) play(ctx context.Context, s streams, files []string, o conformance.Options) error {
	var report scenarioReport
	for _, file := range files {
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		r := scenarioResult{Result: &conformance.Result{File: file, Status: conformance.Fail}}
		if scenario, err := conformance.Load(file); err != nil {
			r.Error = err.Error()
		} else {
			r.Result = conformance.Play(ctx, scenario, o)
		}
		report.add(r)
		if !f.json {
			r.print(s.out)
		}
	}
	if f.json {
		if err := printJSON(s.out, report); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(s.out, "%d passed, %d failed, %d not supported\n", report.Passed, report.Failed, report.NotSupported)
	}
	if report.Failed > 0 || f.strict && report.NotSupported > 0 {
		return errReported
	}
	return nil
}

func (r *scenarioReport) add(result scenarioResult) {
	r.Results = append(r.Results, result)
	switch result.Status {
	case conformance.Pass:
		r.Passed++
	case conformance.Unsupported:
		r.NotSupported++
	default:
		r.Failed++
	}
}

// print writes one file's result for people.
func (r *scenarioResult) print(w io.Writer) {
	switch r.Status {
	case conformance.Pass:
		fmt.Fprintf(w, "pass           %s\n", printable(r.File))
		return
	case conformance.Unsupported:
		fmt.Fprintf(w, "not supported  %s: %s\n", printable(r.File), printable(strings.Join(r.Missing, ", ")))
		return
	}
	fmt.Fprintf(w, "FAIL           %s\n", printable(r.File))
	if r.Error != "" {
		fmt.Fprintln(w, "    "+strings.ReplaceAll(printableLines(r.Error), "\n", "\n    "))
	}
	for _, d := range r.Differences {
		fmt.Fprintf(w, "    %s\n        want %s\n        have %s\n", printable(d.Path), printable(d.Want), printable(d.Have))
	}
	if r.More > 0 {
		fmt.Fprintf(w, "    and %d more\n", r.More)
	}
}
