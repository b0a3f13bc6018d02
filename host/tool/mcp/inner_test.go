package mcp

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
)

func TestDefaults(t *testing.T) {
	c, err := Config{SourceID: "a", Command: &Command{Path: "a"}}.withDefaults()
	require.NoError(t, err)
	assert.Equal(t, ByAnnotations, c.Approval)
	assert.Equal(t, 30*time.Second, c.ConnectTimeout)
	assert.Equal(t, 30*time.Second, c.CallTimeout)
	assert.Equal(t, 256<<10, c.MaxResult)
	assert.Equal(t, 256, c.MaxTools)
	assert.Equal(t, 2*time.Second, c.Command.StopTime)
	assert.Equal(t, slog.Default(), c.Logger)
}

// TestAFloodOnStandardError: what is logged is bounded per line and per time, and says what was dropped.
func TestAFloodOnStandardError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		l := &lines{log: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), sourceID: "a"}
		for i := range 200 {
			fmt.Fprintf(l, "line %d\n\n", i)
		}
		require.Equal(t, 64, strings.Count(log.String(), "\n"))
		time.Sleep(11 * time.Second)
		fmt.Fprint(l, strings.Repeat("x", 1<<20))
		fmt.Fprint(l, "\xff\nforged\x1b[0m\n")
		require.Contains(t, log.String(), `"dropped":136`)
		require.Contains(t, log.String(), `"line":"forged\u001b[0m"`)
		require.Less(t, log.Len(), 20<<10)
		require.Equal(t, "forged\x1b[0m", l.lastLine())
	})
}

func TestDescriptionsAreBounded(t *testing.T) {
	text := describe(&sdk.Tool{Description: strings.Repeat("é", 8<<10)})
	require.LessOrEqual(t, len(text), 8<<10+len("…"))
	require.Equal(t, "Title", describe(&sdk.Tool{Title: "Title"}))
	require.Equal(t, "Other", describe(&sdk.Tool{Annotations: &sdk.ToolAnnotations{Title: "Other"}}))
}

// FuzzResult: whatever a server answers, what the model gets is JSON within the limit.
func FuzzResult(f *testing.F) {
	for _, seed := range []string{
		`{"content":[{"type":"text","text":"a"}]}`,
		`{"content":[{"type":"text","text":"[1]"}],"structuredContent":[1]}`,
		`{"content":[{"type":"image","data":"QQ==","mimeType":"image/png"},{"type":"text","text":"\ud800"}]}`,
		`{"content":[{"type":"resource","resource":{"uri":"file:///a","blob":"QQ=="}},{"type":"resource_link","uri":"a","name":"b"}]}`,
		`{"content":[],"structuredContent":{"a":1e400},"isError":true}`,
		`{"content":[{"type":"resource"}]}`,
	} {
		f.Add([]byte(seed))
	}
	r := &remote{server: &Server{config: Config{SourceID: "a", MaxResult: 1000}}, name: "t", definition: host.ToolDefinition{Name: "t"}}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var result sdk.CallToolResult
		if stdjson.Unmarshal(raw, &result) != nil {
			return
		}
		value, err := r.read(&result)
		if err != nil {
			return
		}
		if len(value) > 1000 || !value.IsValid() {
			t.Fatalf("%s of %s", value, raw)
		}
	})
}
