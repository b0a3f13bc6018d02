package engine_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine"
)

func TestMisuseOfTheArenaIsATrapThatNamesTheFunction(t *testing.T) {
	m := load(t, "misuses-the-arena", engine.Spec{})
	for _, export := range []string{
		"load_u8", "load_u64", "store_u8", "store_u64", "input_load_u8", "input_load_u64", "error_set", "var_set", "var_get",
		"config_get",
	} {
		err := callFails(t, m, engine.Call{Export: export, Input: []byte("abc")})
		require.ErrorIs(t, err, engine.ErrTrap, export)
		require.ErrorContains(t, err, "misuses-the-arena: "+export+" trapped: "+export)
	}
	require.Zero(t, call(t, m, "lengths_of_nothing", "").Code)
	require.Zero(t, call(t, m, "frees_twice", "").Code)
}

func TestConfig(t *testing.T) {
	m := load(t, "asks-for-config", engine.Spec{Config: map[string]string{"city": "Oslo", "empty": ""}})
	result := call(t, m, "before_run", "city")
	require.EqualValues(t, 1, result.Code)
	require.Equal(t, "Oslo", string(result.Output))
	require.Zero(t, call(t, m, "before_run", "country").Code)
	require.Zero(t, call(t, m, "before_run", "empty").Code)
}

func TestHTTPIsNotGranted(t *testing.T) {
	m := load(t, "asks-for-http", engine.Spec{})
	err := callFails(t, m, engine.Call{Export: "before_run"})
	require.ErrorIs(t, err, engine.ErrTrap)
	require.EqualError(t, err, "asks-for-http: before_run trapped: http_request: this host sends no HTTP requests for its plugins")
	require.Zero(t, call(t, m, "status", "").Code)
}

type line struct{ level, text string }

func logged(t *testing.T, m *engine.Module, export, input string) ([]line, engine.Usage) {
	t.Helper()
	var lines []line
	result, err := m.Call(t.Context(), engine.Call{
		Export: export, Input: []byte(input), Log: func(level, text string) { lines = append(lines, line{level, text}) },
	})
	require.NoError(t, err)
	return lines, result.Usage
}

func TestLogFloodIsCutOff(t *testing.T) {
	m := load(t, "floods-log", engine.Spec{})
	lines, usage := logged(t, m, "thousand", "")
	require.Len(t, lines, 65)
	require.Equal(t, line{"info", "x"}, lines[0])
	require.Equal(t, line{"warn", "936 lines dropped"}, lines[64])
	require.Equal(t, 64, usage.LogLines)
	require.Equal(t, 936, usage.LogDropped)
}

func TestLogLineIsMadePrintableAndCut(t *testing.T) {
	m := load(t, "floods-log", engine.Spec{})
	for input, want := range map[string]string{
		"plain, Grüße, 世界":              "plain, Grüße, 世界",
		"two\nlines\r\n":                `two\nlines\r\n`,
		"\x1b[2Jgone\x00":               `\x1b[2Jgone\x00`,
		"evil\u202egnp.exe":             `evil\u202egnp.exe`,
		"bad \xff\xfe bytes":            "bad \uFFFD\uFFFD bytes",
		"":                              "",
		strings.Repeat("é", 2048) + "x": strings.Repeat("é", 2048) + " ... (1 byte more)",
		"a" + strings.Repeat("é", 2048): "a" + strings.Repeat("é", 2047) + " ... (2 bytes more)",
	} {
		lines, _ := logged(t, m, "input", input)
		require.Equal(t, []line{{"warn", want}}, lines)
	}
}

func TestGuestIsToldWhetherAnyoneListens(t *testing.T) {
	m := load(t, "floods-log", engine.Spec{})
	require.EqualValues(t, 1<<31-1, call(t, m, "level", "").Code)
	result, err := m.Call(t.Context(), engine.Call{Export: "level", Log: func(string, string) {}})
	require.NoError(t, err)
	require.Zero(t, result.Code)
	require.Equal(t, 936, call(t, m, "thousand", "").Usage.LogDropped, "counted all the same")
	require.ErrorIs(t, callFails(t, m, engine.Call{Export: "nowhere"}), engine.ErrTrap)
}

func TestPanicOfTheHostStaysWithTheHost(t *testing.T) {
	var log bytes.Buffer
	e := newEngine(t, engine.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	m, err := e.Load(t.Context(), fixture(t, "floods-log"), engine.Spec{Name: "floods-log"})
	require.NoError(t, err)
	for range 2 {
		_, err = m.Call(t.Context(), engine.Call{
			Export: "input", Input: []byte("x"), Log: func(string, string) { panic("the secret") },
		})
		require.ErrorIs(t, err, engine.ErrTrap)
		require.EqualError(t, err, "floods-log: input trapped: host function log_warn failed")
		require.NotContains(t, err.(*engine.TrapError).Stack, "secret")
	}
	require.Contains(t, log.String(), "the secret")
	require.Contains(t, log.String(), "plugin=floods-log")
	require.Contains(t, log.String(), "env_test.go")
	require.Zero(t, m.Stats().Live)
}

func TestVarsAreBounded(t *testing.T) {
	m := load(t, "sets-vars", engine.Spec{Limits: engine.Limits{Vars: 100_000}})
	err := callFails(t, m, engine.Call{Export: "without_end"})
	require.ErrorIs(t, err, engine.ErrVarsLimit)
	require.EqualError(t, err, "sets-vars: without_end set 98.4 KiB of vars, and may set 97.7 KiB: raise limits.vars, or keep less")
	require.EqualValues(t, 10_000, call(t, m, "again_and_again", "").Code, "the last value is what counts")
	require.Zero(t, call(t, m, "takes_away", "").Code)
}

func TestAnOffsetOfAnEarlierCallIsWorthNothing(t *testing.T) {
	m := load(t, "keeps-an-offset", engine.Spec{Shared: true, Limits: engine.Limits{Instances: 1}})
	require.EqualValues(t, 1000, call(t, m, "keep", "").Code)
	require.Zero(t, call(t, m, "length_of_it", "").Code)
	for _, export := range []string{"load", "put_out"} {
		require.EqualValues(t, 1000, call(t, m, "keep", "").Code)
		require.ErrorContains(t, callFails(t, m, engine.Call{Export: export}), "outside the memory shared with the host", export)
	}
	require.EqualValues(t, 1000, call(t, m, "keep", "").Code)
	require.ErrorContains(t, callFails(t, m, engine.Call{Export: "log"}), "where no block begins")
}
