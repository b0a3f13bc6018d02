package host

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weft-run/weft/message"
)

// batch is the calls of one reply, each id once.
type batch struct {
	calls   []message.FunctionCall
	results []outcome
}

// outcome is what one call came to.
type outcome struct {
	result     message.FunctionResult
	failed     bool
	terminated bool
	refused    bool // nobody let it run
	untrusted  bool // nobody vouches for its text
	fatal      error

	err      error // what it failed with, for the trace
	duration time.Duration
}

// newBatch collects the calls of a reply in their order.
func newBatch(r *Response) *batch {
	b := &batch{}
	seen := map[string]bool{}
	for _, m := range r.Messages {
		for _, c := range m.Contents {
			if call, ok := c.(message.FunctionCall); ok && !seen[call.CallID] {
				seen[call.CallID] = true
				b.calls = append(b.calls, call)
			}
		}
	}
	b.results = make([]outcome, len(b.calls))
	return b
}

// failure is the outcome of a call that failed. Its details are for the model only where that was asked for.
func failure(call message.FunctionCall, text string, err error, detailed bool) outcome {
	if detailed && err != nil {
		text += " Exception: " + err.Error()
	}
	if err == nil {
		err = errors.New(text)
	}
	return outcome{failed: true, err: err, result: message.FunctionResult{CallID: call.CallID, Result: textValue(text), Error: text}}
}

// callable are the tools that the model may call, by name.
func (r *run) callable(offered []OfferedTool) map[string]OfferedTool {
	if len(offered)+len(r.agent.invocation.AdditionalTools) == 0 {
		return nil
	}
	tools := make(map[string]OfferedTool, len(offered)+len(r.agent.invocation.AdditionalTools))
	for _, t := range r.agent.invocation.AdditionalTools {
		tools[t.Definition().Name] = OfferedTool{Tool: t}
	}
	for _, t := range offered {
		tools[t.Definition().Name] = t
	}
	return tools
}

// paused reports whether a batch holds a call that only the caller can answer: then none of it is answered here.
func paused(b *batch, tools map[string]OfferedTool) bool {
	return slices.ContainsFunc(b.calls, func(c message.FunctionCall) bool {
		t, known := tools[c.Name]
		if !known {
			return false
		}
		_, runs := t.Tool.(FunctionTool)
		return !runs
	})
}

func unknownCall(b *batch, tools map[string]OfferedTool) error {
	for _, c := range b.calls {
		if _, ok := tools[c.Name]; !ok {
			return fmt.Errorf("the model called the tool %q, which does not exist", c.Name)
		}
	}
	return nil
}

// message is the tool message with all results in the order of the calls.
func (b *batch) message() (m *message.Message, failed, terminated bool) {
	m = message.New(message.RoleTool)
	for _, o := range b.results {
		m.Contents = append(m.Contents, o.result)
		failed = failed || o.failed
		terminated = terminated || o.terminated
		m.Untrusted = m.Untrusted || o.untrusted
	}
	return m, failed, terminated
}

// contents are the results in the order of the calls, where there are any.
func (b *batch) contents() []message.FunctionResult {
	var all []message.FunctionResult
	for _, o := range b.results {
		if o.result.Result != nil {
			all = append(all, o.result)
		}
	}
	return all
}
