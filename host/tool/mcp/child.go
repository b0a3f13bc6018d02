package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// child is a program that was started as a server.
type child struct {
	cmd           *exec.Cmd
	stdin, stdout *os.File
	stderr        *lines
	stopTime      time.Duration
	exited        chan struct{}
	err           error // set before exited
	stopping      sync.Once
}

// startChild starts a program with nothing of the environment but what it is given.
func startChild(c *Command, log *slog.Logger, sourceID string) (*child, error) {
	// Not the pipes of exec.Cmd: those are closed as soon as the program has ended, also where its last answer is still in
	// them.
	theirIn, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stdout, theirOut, err := os.Pipe()
	if err != nil {
		theirIn.Close()
		stdin.Close()
		return nil, err
	}
	p := &child{
		cmd: exec.Command(c.Path, c.Args...), stdin: stdin, stdout: stdout, stopTime: c.StopTime, exited: make(chan struct{}),
		stderr: &lines{log: log, sourceID: sourceID},
	}
	p.cmd.Dir, p.cmd.Env = c.Dir, environment(c.Env)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirIn, theirOut, p.stderr
	ownGroup(p.cmd)              // so that what a launcher started ends with it
	p.cmd.WaitDelay = c.StopTime // where the program left another behind that holds its standard error
	err = p.cmd.Start()
	theirIn.Close()
	theirOut.Close()
	if err != nil {
		stdin.Close()
		stdout.Close()
		return nil, fmt.Errorf("cannot start the program: %w", err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// input is a program's standard input, which it may have stopped to read: then writing to it fails in the end.
type input struct {
	*os.File
	patience time.Duration
}

// Write gives up after a while. What was written of a message is then of no use, and the connection ends.
func (i input) Write(p []byte) (int, error) {
	if err := i.SetWriteDeadline(time.Now().Add(i.patience)); err != nil && !errors.Is(err, os.ErrNoDeadline) {
		return 0, err
	}
	return i.File.Write(p)
}

// environment is what a program gets: what is configured, and PATH and HOME.
func environment(configured []string) []string {
	env := make([]string, 0, len(configured)+2)
	for _, name := range []string{"PATH", "HOME"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return append(env, configured...) // of two of one name the later counts
}

// stop ends the program and returns when it is gone. It may be called by many.
func (p *child) stop() {
	p.stopping.Do(func() {
		p.stdin.Close()
		defer killGroup(p.cmd.Process) // whoever is left
		if p.gone() {
			return
		}
		if err := terminateGroup(p.cmd.Process); err == nil && p.gone() {
			return
		}
		killGroup(p.cmd.Process)
		<-p.exited
	})
	<-p.exited
	p.stdout.Close()
}

// gone waits for the program to end by itself.
func (p *child) gone() bool {
	timer := time.NewTimer(p.stopTime)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

// lastWords says how the program ended, and what it wrote last to its standard error.
func (p *child) lastWords() string {
	var b strings.Builder
	select {
	case <-p.exited:
		if p.err != nil {
			fmt.Fprintf(&b, "; the program ended with %v", p.err)
		}
	default:
	}
	if last := p.stderr.lastLine(); last != "" {
		fmt.Fprintf(&b, "; it wrote %q", last)
	}
	return b.String()
}

// Limits of what is logged of a program's standard error.
const (
	maxLine    = 4 << 10
	maxLines   = 64 // in each logWindow
	logWindow  = 10 * time.Second
	shownWords = 400
)

// lines logs what a program writes to its standard error, a line each, and not more than is good.
type lines struct {
	log      *slog.Logger
	sourceID string

	mu      sync.Mutex
	rest    []byte // of a line that has not ended
	last    string
	since   time.Time
	logged  int
	dropped int
}

var _ io.Writer = (*lines)(nil)

// Write never fails: what cannot be logged is dropped.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for part := range bytes.Lines(p) {
		if room := maxLine - len(l.rest); room > 0 {
			l.rest = append(l.rest, part[:min(room, len(part))]...)
		}
		if part[len(part)-1] == '\n' {
			l.line()
		}
	}
	return len(p), nil
}

// line logs the line that ended.
func (l *lines) line() {
	text := strings.ToValidUTF8(string(bytes.TrimSpace(l.rest)), "\uFFFD")
	l.rest = l.rest[:0]
	if text == "" {
		return
	}
	l.last = text
	if time.Since(l.since) > logWindow {
		l.since, l.logged = time.Now(), 0
	}
	if l.logged++; l.logged > maxLines {
		l.dropped++
		return
	}
	if l.dropped > 0 {
		l.log.LogAttrs(context.Background(), slog.LevelDebug, "an MCP server wrote more to its standard error than is logged",
			slog.String("source_id", l.sourceID), slog.Int("dropped", l.dropped))
		l.dropped = 0
	}
	l.log.LogAttrs(context.Background(), slog.LevelDebug, "an MCP server wrote to its standard error",
		slog.String("source_id", l.sourceID), slog.String("line", text))
}

func (l *lines) lastLine() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last[:min(len(l.last), shownWords)]
}
