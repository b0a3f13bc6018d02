package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
)

func TestTheTraceShowsWhatMiddlewareChangedAndWhatRanAtOnce(t *testing.T) {
	tr := &trace{hooks: []host.HookTrace{
		{SourceID: "clock", Hook: "before_run", Instructions: 1, Duration: time.Millisecond, Concurrent: true},
		{SourceType: "plugin:guard", Hook: "process", Layer: "chat", NextCalls: 1, Changes: host.Changes{Replaced: 2, Fields: []string{"options"}}},
		{SourceType: "plugin:cache", Hook: "process", Layer: "chat", Changes: host.Changes{Result: true}},
		{SourceType: "plugin:retry", Hook: "process", Layer: "agent", NextCalls: 3},
	}}
	var b strings.Builder
	tr.print(&b)
	for _, line := range []string{
		"clock         before_run     1 instruction                       1ms +",
		"plugin:guard  process chat   2 messages replaced, other options",
		"plugin:cache  process chat   result, next not called",
		"plugin:retry  process agent  next called 3 times",
	} {
		require.Contains(t, b.String(), line)
	}
	hooks := tr.json()
	require.True(t, hooks[0].Concurrent)
	require.Nil(t, hooks[0].Changes)
	require.Equal(t, &changesJSON{Replaced: 2, Fields: []string{"options"}}, hooks[1].Changes)
	require.Equal(t, 3, hooks[3].NextCalls)
}
