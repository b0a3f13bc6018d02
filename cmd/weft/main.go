package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// The exit codes (compatibility: CLI).
const (
	exitOK = iota
	exitFailed
	exitUsage
)

func main() {
	os.Exit(execute(os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}

// streams are where a command reads and writes.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

// errReported is the error of a command that has told what went wrong already.
var errReported = errors.New("failed")

// usageError is a command line that makes no sense.
type usageError struct {
	command *cobra.Command
	err     error
}

// Error is what makes no sense.
func (e *usageError) Error() string { return e.err.Error() }

// execute runs one command line and returns the exit code.
func execute(args []string, s streams) (code int) {
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintf(s.err, "weft: internal error: %v\nThis is a bug in weft: please report it with the command line and what follows.\n%s",
				v, debug.Stack())
			code = exitFailed
		}
	}()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()

	out := &checkedWriter{w: s.out}
	s.out = out
	root := newRoot(s)
	root.SetArgs(args)
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	err := root.ExecuteContext(ctx)
	if out.err != nil && (err == nil || errors.Is(err, out.err)) {
		err = fmt.Errorf("standard output: %w", out.err)
	}
	return report(err, s.err)
}

// report prints an error and returns the exit code for it.
func report(err error, w io.Writer) int {
	var usage *usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		fmt.Fprintf(w, "weft: %s\nusage: %s\n", printableLines(usage.Error()), usage.command.UseLine())
		fmt.Fprintf(w, "see: %s --help\n", usage.command.CommandPath())
		return exitUsage
	case !errors.Is(err, errReported):
		printError(w, err)
	}
	return exitFailed
}

// printError prints an error for people. What strangers wrote into it cannot move the cursor.
func printError(w io.Writer, err error) {
	fmt.Fprintf(w, "weft: %s\n", printableLines(err.Error()))
}

func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "weft",
		Short: "Run AI agents whose context comes from sandboxed WebAssembly plugins",
		Long: strings.TrimSpace(`
Weft runs AI agents whose context comes from sandboxed WebAssembly plugins. What an agent is stands in a weft.yaml: its
model, its instructions, and the providers that add context to each run.`),
		Example: "  weft run\n  weft run -m \"What is a weft?\" guide.yaml\n  weft inspect plugins/clock.wasm",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			text := fmt.Sprintf("unknown command %q", args[0])
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				text += ": did you mean " + near[0] + "?"
			}
			return errors.New(text)
		},
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true, SilenceUsage: true,
		SuggestionsMinimumDistance: 2,
	}
	root.AddCommand(newRun(s), newInspect(s), newPlugins(s), newScenario(s), newVersion(s))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return &usageError{cmd, err} })
	root.InitDefaultCompletionCmd()
	for _, cmd := range append(root.Commands(), root) {
		if check := cmd.Args; check != nil {
			cmd.Args = func(cmd *cobra.Command, args []string) error {
				if err := check(cmd, args); err != nil {
					return &usageError{cmd, err}
				}
				return nil
			}
		}
	}
	return root
}

// between checks the number of arguments; what says which are wanted.
func between(low, high int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < low || len(args) > high {
			return fmt.Errorf("%s was wanted, and %s given", what, plural(len(args), "argument"))
		}
		return nil
	}
}

// completeInOrder completes a kind of file for each argument, one after the other.
func completeInOrder(kinds ...[]string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= len(kinds) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return kinds[len(args)], cobra.ShellCompDirectiveFilterFileExt
	}
}

// completeFiles completes one kind of file.
func completeFiles(extensions ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}
