package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// longestLine is how long one message on standard input may be.
const longestLine = 4 << 20

// line is one line of input, or the error after the last one.
type line struct {
	text string
	err  error
}

// readLines reads lines as they are asked for. The goroutine ends with the input, or with ctx once it is asked for no
// more; a read from a terminal cannot be interrupted, and ends with the process.
func readLines(ctx context.Context, r io.Reader) <-chan line {
	lines := make(chan line)
	go func() {
		defer close(lines)
		s := bufio.NewScanner(r)
		s.Buffer(nil, longestLine)
		for s.Scan() {
			select {
			case lines <- line{text: s.Text()}:
			case <-ctx.Done():
				return
			}
		}
		err := s.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("standard input: a line is longer than %s", size(longestLine))
		} else if err != nil {
			err = fmt.Errorf("standard input: %w", err)
		}
		if err != nil {
			select {
			case lines <- line{err: err}:
			case <-ctx.Done():
			}
		}
	}()
	return lines
}

// answerLines answers each line of standard input that is not empty. It goes on after a failure, and returns that there
// was one.
func (t *talk) answerLines(ctx context.Context) error {
	lines := readLines(ctx, t.in)
	failed := false
	for {
		var l line
		var more bool
		select {
		case <-ctx.Done():
			return errors.New("interrupted")
		case l, more = <-lines:
		}
		switch {
		case !more && failed:
			return errReported
		case !more:
			return nil
		case l.err != nil:
			return l.err
		case strings.TrimSpace(l.text) == "":
			continue
		}
		err := t.ask(ctx, l.text)
		var kept *keepError
		switch {
		case err == nil:
			continue
		case ctx.Err() != nil:
			return interrupted(err)
		case errors.As(err, &kept):
			return err
		case !errors.Is(err, errReported):
			printError(t.err, err)
		}
		failed = true
	}
}
