package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/config"
	"github.com/weft-run/weft/host/wasm"
)

// closeTime bounds the wait for plugins at the end.
const closeTime = 5 * time.Second

// runFlags are what weft run is told beside the config.
type runFlags struct {
	engine  engineFlags
	model   modelFlags
	message string
	session string
	log     string
	approve string
	trace   bool
	json    bool
	otel    otelFlags
}

func newRun(s streams) *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use:   "run [weft.yaml]",
		Short: "Talk to an agent in the terminal",
		Long: strings.TrimSpace(`
Talk to the agent that a weft.yaml describes; without a name it is the one in the current folder.

In a terminal this is a conversation: Ctrl-C ends an answer under way, and at the prompt the conversation; Ctrl-D ends
it too. With -m it is one question and one answer. Where standard input is a pipe or a file, each line that is not empty
is a message; they are answered in order. An answer that fails is told on standard error, the next line is still
answered, and the exit code is 1.

All messages of one start belong to one session, so the agent remembers if a provider loads history. --session keeps the
session in a file and goes on with it at the next start.

In a conversation, plugins are reloaded when their files change, or what the config says of them: the next answer is by the
new version, or, where that cannot be used, still by the old one. What else changes in the config needs a restart. The
config can have it otherwise, with reload: {watch: …}.

The config names the model; --model, --base-url and --api-key-env name another one. Keys of models stand in environment
variables alone, and the config says in which. The tool servers of the config are started with the agent, and end with
it. With --approve ask, calls of their tools that need approval are asked about in a conversation and refused elsewhere;
all and none decide everywhere. What waits for an answer in a session is asked about first.`),
		Example: strings.Trim(`
  weft run
  weft run guide.yaml --session chat.json --trace
  weft run -m "What is a weft?"
  weft run --model openai:gpt-5-mini
  weft run --model openai:qwen3 --base-url http://localhost:11434/v1
  weft run -m "Which files are there?" --approve all
  echo "What is a weft?" | weft run --json`, "\n"),
		Args:              between(0, 1, "one config at most"),
		ValidArgsFunction: completeFiles("yaml", "yml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := "weft.yaml"
			if len(args) > 0 {
				path = args[0]
			}
			return run(cmd, s, path, flags)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&flags.message, "message", "m", "", "give the agent this one message, and end")
	f.StringVar(&flags.session, "session", "", "go on with the session in this file, and keep it there")
	f.BoolVar(&flags.trace, "trace", false, "after each answer tell what each source added, and what it cost")
	f.BoolVar(&flags.json, "json", false, "print each answer as a JSON object on one line")
	f.StringVar(&flags.log, "log", "warn", "what to log on standard error: debug, info, warn or error")
	f.StringVar(&flags.approve, "approve", approveAsk, "tool calls that need approval: ask, all lets them run, none refuses them; where nobody can be asked they are refused")
	flags.model.add(cmd)
	flags.engine.add(cmd)
	flags.otel.add(cmd)
	_ = cmd.RegisterFlagCompletionFunc("session", completeFiles("json")) // the flags were defined above
	_ = cmd.RegisterFlagCompletionFunc("log", cobra.FixedCompletions(
		[]string{"debug", "info", "warn", "error"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("approve", cobra.FixedCompletions(
		[]string{approveAsk, approveAll, approveNone}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// run builds the agent and lets it answer.
func run(cmd *cobra.Command, s streams, path string, flags runFlags) error {
	if cmd.Flags().Changed("message") && strings.TrimSpace(flags.message) == "" {
		return &usageError{cmd, errors.New("-m needs a message that is not empty")}
	}
	if !slices.Contains([]string{approveAsk, approveAll, approveNone}, flags.approve) {
		return &usageError{cmd, fmt.Errorf("--approve %q is not one of ask, all, none", flags.approve)}
	}
	log, err := newLogger(s, flags.log)
	if err != nil {
		return &usageError{cmd, err}
	}
	engine, err := flags.engine.engine(cmd, log)
	if err != nil {
		return err
	}
	c, err := config.Load(path)
	if err != nil {
		return err
	}
	if c.Model, err = flags.model.override(cmd, c.Model); err != nil {
		return err
	}
	t := &talk{streams: s, flags: flags}
	if err := t.openSession(); err != nil {
		return err
	}
	// Until the conversation begins, Ctrl-C ends the command.
	starting, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
	defer stop()
	export, err := flags.otel.start(starting, cmd, s, log, c.Model.Provider)
	if err != nil {
		return err
	}
	defer export.stop(flushTime)
	waiting := &progress{w: s.err}
	conversation := flags.message == "" && !flags.json && isTerminal(s.in)
	built, err := c.Build(starting, config.BuildOptions{
		Engine: engine, Getenv: os.Getenv, Logger: log, Tracer: export.tracer, Loading: waiting.loading, Starting: waiting.starting,
		Watch: conversation, Reloaded: func(r wasm.Reloaded) { tellReload(s.err, r) },
	})
	if err != nil {
		return interrupted(err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		if err := built.Close(ctx); err != nil {
			log.Warn("closing the plugins and tool servers took too long", "error", err)
		}
	}()
	t.agent, t.sources, t.toolSources = built.Agent, built.Sources, built.ToolSources
	if t.session == nil && len(built.ToolSources) > 0 {
		t.session = host.NewSession("") // a call that is asked about waits there
	}
	if conversation {
		stop()
		return t.converse(cmd.Context())
	}
	if flags.message != "" {
		return t.answerOne(starting, flags.message)
	}
	return t.answerLines(starting)
}

// tellReload tells that a plugin has a new version. Of one that cannot be used the log tells.
func tellReload(w io.Writer, r wasm.Reloaded) {
	if r.Err == nil {
		fmt.Fprintf(w, "weft: plugin %s was reloaded: %s\n", printable(r.SourceID), printable(r.To.String()))
	}
}

// interrupted tells a context's error in the words of the one who caused it.
func interrupted(err error) error {
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted")
	}
	return err
}

func newLogger(s streams, level string) (*slog.Logger, error) {
	levels := map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
	}
	l, ok := levels[level]
	if !ok {
		return nil, fmt.Errorf("--log %q is not one of debug, info, warn, error", level)
	}
	return slog.New(slog.NewTextHandler(s.err, &slog.HandlerOptions{Level: l, ReplaceAttr: dropTime})), nil
}

// dropTime leaves the time out of log lines, which a person reads as they appear.
func dropTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}
