package pdktest

import (
	"encoding/json"
	"testing"

	"github.com/weft-run/weft/pdk/go/internal/extism"
)

// Log is a line that a plugin wrote to the host's log.
type Log struct {
	// Level is "debug", "info", "warn" or "error".
	Level string
	Text  string
}

// Result is all that a hook left behind.
type Result struct {
	// Return is what the exported function returned; 0 unless the hook does without package pdk.
	Return int32
	// Output is the JSON object that the hook returned.
	Output string
	// Logs are the lines that the hook logged, of all levels.
	Logs []Log
	// Asked are the calls of the host's functions, in the order in which they returned.
	Asked []Asked
}

// Run calls a hook with input, a JSON object as the host would write it. Members that the hook does not need may be left
// out. Calls from several goroutines run one after the other. A hook that asks the host for something needs a [Host].
func Run(hook func() int32, input string) Result { return (&Host{}).Run(hook, input) }

var levels = map[extism.Level]string{
	extism.LevelDebug: "debug",
	extism.LevelInfo:  "info",
	extism.LevelWarn:  "warn",
	extism.LevelError: "error",
}

// Call calls a hook like [Run], and fails the test if the hook reports an error or returns anything but one JSON object.
// It returns that object.
func Call(t testing.TB, hook func() int32, input string) string {
	t.Helper()
	return Run(hook, input).object(t)
}

// object is the output of a hook that did not fail.
func (result Result) object(t testing.TB) string {
	t.Helper()
	var out map[string]json.RawMessage
	if err := json.Unmarshal([]byte(result.Output), &out); err != nil {
		t.Fatalf("the hook returned no JSON object: %v\n%s", err, result.Output)
	}
	if result.Return != 0 {
		t.Fatalf("the hook returned %d; 0 was wanted", result.Return)
	}
	if failure, failed := out["error"]; failed {
		t.Fatalf("the hook failed: %s", failure)
	}
	return result.Output
}
