package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

const prompt = "> "

// converse is the conversation of weft run in a terminal. Where standard output is none, it holds the answers alone.
func (t *talk) converse(ctx context.Context) error {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	screen := t.screen()
	t.introduce(screen)
	return t.goOn(ctx, screen, interrupts)
}

// screen is where the person sits.
func (t *talk) screen() io.Writer {
	if !isTerminal(t.out) {
		return t.err
	}
	return t.out
}

// goOn asks for a message and answers it, until there is an end.
func (t *talk) goOn(ctx context.Context, screen io.Writer, interrupts chan os.Signal) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	lines := readLines(ctx, t.in)
	t.asker = t.asking(lines)
	for {
		fmt.Fprint(screen, prompt)
		select {
		case <-ctx.Done():
			fmt.Fprintln(screen)
			return errors.New("interrupted")
		case <-interrupts:
			fmt.Fprintln(screen)
			return nil
		case l, more := <-lines:
			switch {
			case !more:
				fmt.Fprintln(screen)
				return nil
			case l.err != nil:
				return l.err
			case strings.TrimSpace(l.text) == "":
				continue
			}
			if err := t.askInterruptibly(ctx, end, interrupts, l.text); err != nil {
				return err
			}
		}
	}
}

// introduce tells whom one talks to.
func (t *talk) introduce(screen io.Writer) {
	sources := "no sources"
	if len(t.sources) > 0 {
		sources = "sources: " + strings.Join(t.sources, ", ")
	}
	if len(t.toolSources) > 0 {
		sources += "; tools: " + strings.Join(t.toolSources, ", ")
	}
	fmt.Fprintf(screen, "%s (%s). Ctrl-C ends an answer, Ctrl-D the conversation.\n", printable(t.agent.Name()), printable(sources))
}

// askInterruptibly answers one message. The first Ctrl-C cancels the answer, the second one the conversation, and a
// third one ends the process, whatever it does. An error is one that ends the conversation.
func (t *talk) askInterruptibly(ctx context.Context, end func(), interrupts chan os.Signal, text string) error {
	answering, cancel := context.WithCancel(ctx)
	defer cancel()
	answered, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		for _, stop := range []func(){cancel, end, func() { signal.Reset(os.Interrupt) }} {
			select {
			case <-interrupts:
				stop()
			case <-answered:
				return
			}
		}
	}()
	err := t.ask(answering, text)
	close(answered)
	<-watched

	var kept *keepError
	switch {
	case err == nil:
	case errors.As(err, &kept):
		return err
	case ctx.Err() != nil:
		return errors.New("interrupted")
	case errors.Is(err, errUndecided):
		printError(t.err, errUndecided)
	case answering.Err() != nil:
		fmt.Fprintln(t.err, "weft: the answer was interrupted; it is not part of the conversation")
	default:
		printError(t.err, err)
	}
	return nil
}
