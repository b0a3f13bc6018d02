package compaction

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// DefaultSourceID is the source id of a compaction provider that was given none.
const DefaultSourceID = "compaction"

// Config says what a compaction provider does. A strategy that is nil does nothing.
type Config struct {
	// SourceID names the provider. Default: [DefaultSourceID].
	SourceID string
	// HistorySourceID is the history whose stored messages After thins out. Default: [host.DefaultHistoryID].
	HistorySourceID string
	// Before thins out the context that earlier providers added, before the model is called. The input stays, and so does
	// what is stored.
	Before Strategy
	// After marks stored messages as excluded and puts lines in; it removes nothing.
	After Strategy
}

// Provider thins out a conversation at the boundary of a run. For Before it stands behind the providers whose context
// it thins out; for After it stands before the history, since hooks after the run are called last provider first.
//
// After works on histories that keep their messages in the session's state, such as [host.NewInMemoryHistory]. What it
// marked is left out of later runs by a history with SkipExcluded; without that the whole conversation is loaded, with
// the lines beside what they stand for.
type Provider struct{ config Config }

var (
	_ host.ContextProvider = (*Provider)(nil)
	_ host.SourceTypeOf    = (*Provider)(nil)
)

// NewProvider makes a provider of strategies. It is safe for many goroutines if they are.
func NewProvider(c Config) *Provider {
	if c.SourceID == "" {
		c.SourceID = DefaultSourceID
	}
	if c.HistorySourceID == "" {
		c.HistorySourceID = host.DefaultHistoryID
	}
	return &Provider{c}
}

// SourceID is the configured one.
func (p *Provider) SourceID() string { return p.config.SourceID }

// Check reports what is wrong with the settings of the strategies. [host.NewAgent] calls it.
func (p *Provider) Check() error {
	var faults []error
	for _, s := range []struct {
		name     string
		strategy Strategy
	}{{"Before", p.config.Before}, {"After", p.config.After}} {
		if c, ok := s.strategy.(host.Checker); ok {
			if err := c.Check(); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", s.name, err))
			}
		}
	}
	return errors.Join(faults...)
}

// SourceType is "compaction".
func (p *Provider) SourceType() string { return "compaction" }

// BeforeRun thins out the context so far. A call whose result is in the run's input stays.
func (p *Provider) BeforeRun(ctx context.Context, sc *host.SessionContext) error {
	if p.config.Before == nil {
		return nil
	}
	messages := sc.Messages(host.Filter{})
	kept, err := compact(ctx, p.config.Before, messages, nil)
	if err != nil {
		return fmt.Errorf("compaction before the run: %w", err)
	}
	answered := answeredBy(messages, sc.Input())
	var out []*message.Message
	for _, e := range merge(messages, kept) {
		if !e.gone || answered[e.message] {
			out = append(out, e.message)
		}
	}
	if !slices.Equal(out, messages) {
		sc.ReplaceMessages(out...)
	}
	return nil
}

// AfterRun marks what is stored.
func (p *Provider) AfterRun(ctx context.Context, sc *host.SessionContext) error {
	session, history := sc.Session(), p.config.HistorySourceID
	if p.config.After == nil || !slices.Contains(session.Sources(), history) { // asking for a bucket would make it
		return nil
	}
	state := session.State(history)
	stored, err := host.StoredMessages(state)
	if err != nil {
		return fmt.Errorf("compaction of what %s stored: %w", history, err)
	}
	shown := slices.DeleteFunc(slices.Clone(stored), (*message.Message).Excluded)
	kept, err := compact(ctx, p.config.After, shown, nil)
	if err != nil {
		return fmt.Errorf("compaction of what %s stored: %w", history, err)
	}
	return host.EditStoredMessages(state, func(now []*message.Message) []*message.Message {
		return p.marked(now, shown, kept)
	})
}

// compact calls a strategy, which may be anybody's.
func compact(ctx context.Context, s Strategy, messages []*message.Message, own *message.Message) ([]*message.Message, error) {
	kept, err := s.Compact(ctx, messages, own)
	if err == nil && slices.Contains(kept, nil) {
		err = fmt.Errorf("%T returned a message that is nil", s)
	}
	return kept, err
}

// marked is what is stored now with the marks and lines of a compaction. Where a compaction of another run was faster,
// it is left as it is: the next run does the rest.
func (p *Provider) marked(now, shown, kept []*message.Message) []*message.Message {
	plan := merge(shown, kept)
	gone, lines := map[*message.Message]bool{}, map[*message.Message][]*message.Message{}
	var waiting []*message.Message
	for _, e := range plan {
		switch {
		case e.added:
			line := e.message.Clone()
			if line.SourceID == "" {
				line.SourceID, line.SourceType = p.SourceID(), p.SourceType()
			}
			waiting = append(waiting, line)
			continue
		case e.gone:
			gone[e.message] = true
		}
		lines[e.message], waiting = waiting, nil
	}
	if len(gone) == 0 && len(plan) == len(shown) {
		return now
	}
	found := 0
	var out []*message.Message
	for _, m := range now {
		out = append(out, lines[m]...)
		if gone[m] {
			m, found = m.WithExcluded(true), found+1
		}
		out = append(out, m)
	}
	if found < len(gone) {
		return now
	}
	return append(out, waiting...)
}

// entry is one message of a compacted list: kept, gone, or added by the strategy.
type entry struct {
	message     *message.Message
	gone, added bool
}

// merge puts back into a compacted list what is gone from it. An added message stands behind what went in its place.
func merge(messages, kept []*message.Message) []entry {
	place := make(map[*message.Message]int, len(messages))
	for i, m := range messages {
		place[m] = i
	}
	out := make([]entry, 0, len(messages))
	next := 0
	var added []entry
	flush := func(to int) {
		for ; next < to; next++ {
			out = append(out, entry{message: messages[next], gone: true})
		}
		out, added = append(out, added...), nil
	}
	for _, m := range kept {
		i, known := place[m]
		switch {
		case !known:
			added = append(added, entry{message: m, added: true})
		case i >= next:
			flush(i)
			out = append(out, entry{message: m})
			next++
		}
	}
	flush(len(messages))
	return out
}

// answeredBy are the messages that stand in one group with a message of the input.
func answeredBy(messages, input []*message.Message) map[*message.Message]bool {
	out := map[*message.Message]bool{}
	all := slices.Concat(messages, input)
	for _, g := range grouped(all, nil) {
		if len(g.at) == 1 || g.last() < len(messages) {
			continue
		}
		for _, i := range g.at {
			out[all[i]] = true
		}
	}
	return out
}
