package main

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// trace gathers what the hooks of one run did.
type trace struct {
	// called, where set, is told of each tool call before it runs.
	called func(call *message.FunctionCall)

	mu    sync.Mutex
	runID string
	hooks []host.HookTrace
}

var _ host.Tracer = (*trace)(nil)

// Start tells of a tool call. All of them start where the updates of the run are read.
func (t *trace) Start(ctx context.Context, h *host.HookTrace) context.Context {
	if h.Hook == "function" && h.Call != nil && t.called != nil {
		t.called(h.Call)
	}
	return ctx
}

// End keeps what a part of the run did.
func (t *trace) End(_ context.Context, h *host.HookTrace) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if h.Hook == "run" {
		return // the table is about its parts
	}
	t.runID = h.RunID
	t.hooks = append(t.hooks, *h)
}

// cameToModel reports whether the run made a model call, or came to the middleware around one.
func (t *trace) cameToModel() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(t.hooks, func(h host.HookTrace) bool { return h.Hook == "model" || h.Layer == "chat" })
}

// tableCosts are the costs that have a column of their own.
var tableCosts = []string{"cpu", "memory", "output"}

// print writes the table of a run: who added what, in what time, and at what cost against which limit. Costs that
// nobody had have no column.
func (t *trace) print(w io.Writer) {
	rows := [][]string{slices.Concat([]string{"source", "hook", "added", "time"}, tableCosts, []string{"other"})}
	used := make([]bool, len(rows[0]))
	for _, h := range t.hooks {
		cells := append([]string{printable(source(h)), hookName(h), added(h), took(h)}, costCells(h.Costs)...)
		for i, cell := range cells {
			used[i] = used[i] || cell != "-" || i < 4
		}
		rows = append(rows, cells)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, cells := range rows {
		var shown []string
		for i, cell := range cells {
			if used[i] {
				shown = append(shown, cell)
			}
		}
		fmt.Fprintln(table, strings.Join(shown, "\t"))
	}
	_ = table.Flush() // standard error has nobody to tell
}

// source is who did it: a provider, or the type of a middleware.
func source(h host.HookTrace) string {
	switch {
	case h.SourceID != "":
		return h.SourceID
	case h.Layer != "":
		return h.SourceType
	}
	return "-"
}

// hookName is the hook, with the tool that was called or the layer that was wrapped.
func hookName(h host.HookTrace) string {
	switch {
	case h.Tool != "":
		return h.Hook + " " + printable(h.Tool)
	case h.Layer != "":
		return h.Hook + " " + h.Layer
	}
	return h.Hook
}

func added(h host.HookTrace) string {
	switch {
	case h.Skipped:
		return "skipped: it failed"
	case h.Err != nil:
		return "failed"
	}
	var parts []string
	for _, p := range []struct {
		n    int
		one  string
		what string
	}{
		{h.Messages, "message", ""},
		{h.Instructions, "instruction", ""},
		{h.Tools, "tool", ""},
		{h.Changes.Added, "message", ""},
		{h.Changes.Removed, "message", " removed"},
		{h.Changes.Replaced, "message", " replaced"},
	} {
		if p.n > 0 {
			parts = append(parts, plural(p.n, p.one)+p.what)
		}
	}
	if h.Changes.Reordered {
		parts = append(parts, "another order")
	}
	for _, field := range h.Changes.Fields {
		parts = append(parts, "other "+strings.ReplaceAll(field, "_", " "))
	}
	if h.Changes.Result {
		parts = append(parts, "result")
	}
	switch {
	case h.Hook != "process" || h.NextCalls == 1:
	case h.NextCalls == 0:
		parts = append(parts, "next not called")
	default:
		parts = append(parts, fmt.Sprintf("next called %d times", h.NextCalls))
	}
	if parts == nil {
		return "-"
	}
	return strings.Join(parts, ", ")
}

// took is how long a hook worked; a + says that it did so beside others.
func took(h host.HookTrace) string {
	if h.Concurrent {
		return duration(h.Duration) + " +"
	}
	return duration(h.Duration)
}

// costCells are the cells of the costs with a column, and one for all others.
func costCells(costs []host.Cost) []string {
	cells := make([]string, len(tableCosts)+1)
	var others []string
	for _, c := range costs {
		text := amount(c.Used, c.Unit)
		if c.Limit > 0 {
			text += " of " + amount(c.Limit, c.Unit)
		}
		if i := slices.Index(tableCosts, c.Name); i >= 0 {
			cells[i] = text
		} else {
			others = append(others, text+" "+strings.ReplaceAll(c.Name, "_", " "))
		}
	}
	cells[len(tableCosts)] = strings.Join(others, ", ")
	for i, cell := range cells {
		if cell == "" {
			cells[i] = "-"
		}
	}
	return cells
}

func amount(n int64, unit string) string {
	switch unit {
	case "ns":
		return duration(time.Duration(n))
	case "bytes":
		return size(n)
	}
	return fmt.Sprint(n)
}

// hookJSON is one hook call in --json --trace.
type hookJSON struct {
	SourceID     string     `json:"source_id,omitempty"`
	SourceType   string     `json:"source_type,omitempty"`
	Hook         string     `json:"hook"`
	Layer        string     `json:"layer,omitempty"`
	Tool         string     `json:"tool,omitempty"`
	DurationNS   int64      `json:"duration_ns"`
	Messages     int        `json:"messages"`
	Instructions int        `json:"instructions"`
	Tools        int        `json:"tools"`
	Costs        []costJSON `json:"costs,omitempty"`
	// Concurrent says that the hook ran beside others; NextCalls how often what wraps called next.
	Concurrent bool         `json:"concurrent,omitempty"`
	NextCalls  int          `json:"next_calls,omitempty"`
	Changes    *changesJSON `json:"changes,omitempty"`
	Error      string       `json:"error,omitempty"`
	Skipped    bool         `json:"skipped,omitempty"`
}

// changesJSON is what middleware changed on the way down, and whether it gave a result.
type changesJSON struct {
	Added     int      `json:"added,omitempty"`
	Removed   int      `json:"removed,omitempty"`
	Replaced  int      `json:"replaced,omitempty"`
	Reordered bool     `json:"reordered,omitempty"`
	Fields    []string `json:"fields,omitempty"`
	Result    bool     `json:"result,omitempty"`
}

// costJSON is one cost in --json --trace. A limit of 0 is none.
type costJSON struct {
	Name  string `json:"name"`
	Used  int64  `json:"used"`
	Limit int64  `json:"limit,omitempty"`
	Unit  string `json:"unit,omitempty"`
}

func (t *trace) json() []hookJSON {
	out := make([]hookJSON, len(t.hooks))
	for i, h := range t.hooks {
		out[i] = hookJSON{
			SourceID: h.SourceID, SourceType: h.SourceType, Hook: h.Hook, Layer: h.Layer, Tool: h.Tool, DurationNS: int64(h.Duration),
			Messages: h.Messages, Instructions: h.Instructions, Tools: h.Tools, Skipped: h.Skipped,
			Concurrent: h.Concurrent, NextCalls: h.NextCalls,
		}
		if changes := changesJSON(h.Changes); !reflect.DeepEqual(changes, changesJSON{}) {
			out[i].Changes = &changes
		}
		for _, c := range h.Costs {
			out[i].Costs = append(out[i].Costs, costJSON(c))
		}
		if h.Err != nil {
			out[i].Error = h.Err.Error()
		}
	}
	return out
}
