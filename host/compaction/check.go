package compaction

import (
	"errors"
	"fmt"

	"github.com/weft-run/weft/host"
)

// ErrSettings is what every error about a strategy's settings is, in the sense of errors.Is.
var ErrSettings = errors.New("the settings do not work")

// checked is a strategy that knows whether its settings work.
type checked interface {
	host.Compactor
	host.Checker
}

var (
	_ checked = SlidingWindow{}
	_ checked = Truncation{}
	_ checked = SelectiveToolCall{}
	_ checked = ToolResult{}
	_ checked = TokenBudget{}
	_ checked = ContextWindow{}
	_ checked = (*Summarization)(nil)
)

// Check reports a negative number of groups.
func (s SlidingWindow) Check() error {
	f := faults{strategy: "compaction.SlidingWindow"}
	f.notNegative("KeepLastGroups", s.KeepLastGroups)
	return f.err()
}

// Check reports negative numbers of messages, and a CompactTo above MaxMessages.
func (s Truncation) Check() error {
	f := faults{strategy: "compaction.Truncation"}
	f.notNegative("MaxMessages", s.MaxMessages)
	f.notNegative("CompactTo", s.CompactTo)
	if s.CompactTo > s.MaxMessages && s.MaxMessages >= 0 {
		f.add("CompactTo is %d, and it must not be above MaxMessages, which is %d", s.CompactTo, s.MaxMessages)
	}
	return f.err()
}

// Check reports a negative number of groups.
func (s SelectiveToolCall) Check() error {
	f := faults{strategy: "compaction.SelectiveToolCall"}
	f.notNegative("KeepLastToolCallGroups", s.KeepLastToolCallGroups)
	return f.err()
}

// Check reports negative numbers.
func (s ToolResult) Check() error {
	f := faults{strategy: "compaction.ToolResult"}
	f.notNegative("KeepLastToolCallGroups", s.KeepLastToolCallGroups)
	f.notNegative("MaxResult", s.MaxResult)
	return f.err()
}

// faults collects what does not work in the settings of one strategy.
type faults struct {
	strategy string
	all      []error
}

func (f *faults) add(format string, args ...any) { f.all = append(f.all, fmt.Errorf(format, args...)) }

func (f *faults) notNegative(field string, n int) {
	if n < 0 {
		f.add("%s is %d, and it must be 0 or more", field, n)
	}
}

func (f *faults) positive(field string, n int) {
	if n <= 0 {
		f.add("%s is %d, and it must be 1 or more", field, n)
	}
}

func (f *faults) err() error {
	if len(f.all) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %w: %w", f.strategy, ErrSettings, errors.Join(f.all...))
}
