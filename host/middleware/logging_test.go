package middleware_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/middleware"
)

// records are what a JSON handler wrote.
func records(t *testing.T, log string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for line := range strings.Lines(log) {
		var one map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &one), line)
		out = append(out, one)
	}
	return out
}

func TestLoggingTellsOfTheParts(t *testing.T) {
	bothWays(t, func(t *testing.T, streaming bool) {
		logger, logged := logs(slog.LevelDebug)
		look, _ := counting("look")
		var ids []string
		agent := newAgent(t, host.AgentConfig{
			Tracer: host.TraceFunc(func(_ context.Context, h host.HookTrace) {
				if h.Hook == "model" {
					ids = append(ids, h.RunID)
				}
			}),
			Name: "guide", Client: script([]call{{"look", `{}`}, {"bad", `{}`}}), Tools: []host.Tool{look, failing("bad", errors.New("boom"))},
			Middleware: middleware.NewLogging(middleware.LoggingConfig{Logger: logger}),
		})
		_, _, err := run(t, agent, streaming, "my secret question", host.RunConfig{Session: agent.CreateSession("s1")})
		require.NoError(t, err)
		require.NotContains(t, logged.String(), "my secret question", "no content unless it is asked for")
		var what []string
		for _, r := range records(t, logged.String()) {
			what = append(what, r["level"].(string)+" "+r["msg"].(string))
			require.Equal(t, "s1", r["session"])
			require.Contains(t, r, "duration")
			require.Equal(t, ids[0], r["run"], "the run's own id, as traces have it")
			switch r["msg"] {
			case "run ended":
				require.Equal(t, "guide", r["agent"])
				require.EqualValues(t, 3, r["messages_out"])
			case "tool call failed":
				require.Equal(t, "boom", r["error"])
			case "model call ended":
				require.Contains(t, r, "messages_in")
				require.Equal(t, streaming, r["streaming"])
			}
		}
		require.ElementsMatch(t, []string{
			"INFO model call ended", "INFO tool call ended", "WARN tool call failed", "INFO model call ended", "INFO run ended",
		}, what)
	})
}

func TestLoggingOfTokensAndFailures(t *testing.T) {
	logger, logged := logs(slog.LevelInfo)
	mw := middleware.NewLogging(middleware.LoggingConfig{Logger: logger})
	_, _, err := run(t, newAgent(t, host.AgentConfig{Client: costing(10, 3, nil), Middleware: mw}), true, "hi", host.RunConfig{})
	require.NoError(t, err)
	first := records(t, logged.String())[0]
	require.EqualValues(t, 10, first["input_tokens"], "token counts are no tokens")
	require.EqualValues(t, 1, first["updates"])

	_, _, err = run(t, newAgent(t, host.AgentConfig{Client: flaky(errors.New("boom")), Middleware: mw}), false, "hi", host.RunConfig{})
	require.Error(t, err)
	require.Contains(t, logged.String(), `"level":"ERROR","msg":"run failed"`)
	require.Contains(t, logged.String(), `"level":"WARN","msg":"model call failed"`)
}

func TestLoggingOfContentIsForDebugAndRedacted(t *testing.T) {
	look, _ := counting("look")
	for level, there := range map[slog.Level]bool{slog.LevelDebug: true, slog.LevelInfo: false} {
		logger, logged := logs(level)
		agent := newAgent(t, host.AgentConfig{
			Client: script([]call{{"look", `{"password":"hunter2","path":"/tmp"}`}}), Tools: []host.Tool{look},
			Middleware: middleware.NewLogging(middleware.LoggingConfig{Logger: logger, Content: true}),
		})
		_, err := agent.Run(t.Context(), host.Text("my question\nwith sk-abcdefghijklmnop1234"), host.RunConfig{})
		require.NoError(t, err)
		require.Equal(t, there, strings.Contains(logged.String(), "my question"))
		require.Equal(t, there, strings.Contains(logged.String(), "/tmp"))
		require.NotContains(t, logged.String(), "hunter2")
		require.NotContains(t, logged.String(), "sk-abc")
		for _, r := range records(t, logged.String()) {
			if _, ok := r["input"]; ok {
				require.Equal(t, "DEBUG", r["level"])
			}
		}
	}
}

type lazy struct{}

func (lazy) LogValue() slog.Value {
	return slog.GroupValue(slog.String("api_key", "k"), slog.Int("n", 1))
}

func TestRedactingHandler(t *testing.T) {
	var b bytes.Buffer
	inner := slog.NewJSONHandler(&b, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	h := middleware.NewRedactingHandler(inner, middleware.RedactConfig{MaxValue: 24, Patterns: []*regexp.Regexp{regexp.MustCompile(`C-\d+`)}})
	log := slog.New(h)
	for _, c := range []struct {
		attr slog.Attr
		want string
	}{
		{slog.String("password", "x"), `"password":"[REDACTED]"`},
		{slog.Int("pin", 1234), `"pin":"[REDACTED]"`},
		{slog.String("X-Api-Key", "x"), `"X-Api-Key":"[REDACTED]"`},
		{slog.String("dbPassword", "x"), `"dbPassword":"[REDACTED]"`},
		{slog.String("access_token", "x"), `"access_token":"[REDACTED]"`},
		{slog.Int("input_tokens", 7), `"input_tokens":7`},
		{slog.String("tokenizer", "x"), `"tokenizer":"x"`},
		{slog.Any("lazy", lazy{}), `"lazy":{"api_key":"[REDACTED]","n":1}`},
		{slog.Group("secret", "a", "x", slog.Group("b", "c", "x")), `"secret":{"a":"[REDACTED]","b":{"c":"[REDACTED]"}}`},
		{slog.Any("args", jsontext.Value(`{"token":[1],"a":1}`)), `"args":"{\"token\":\"[REDACTED]\",\"a… (28 bytes)"`},
		{slog.Any("e", errors.New("for C-12")), `"e":"for [REDACTED]"`},
		{slog.String("v", "sk-abcdefghijklmnop1234"), `"v":"[SECRET]"`},
		{slog.String("v", "a\nb\x1b[31m\u202e\xff"), `"v":"a\\nb\\u{1b}[31m\\u{202e}… (12 bytes)"`},
		{slog.String("v", strings.Repeat("é", 20)), `"v":"` + strings.Repeat("é", 12) + `… (40 bytes)"`},
		{slog.Any("v", []byte("x\x00")), `"v":"x\\u{0}"`},
		{slog.Any("v", struct{ A string }{"C-1"}), `"v":"{A:[REDACTED]}"`},
	} {
		b.Reset()
		log.LogAttrs(context.Background(), slog.LevelInfo, "m", c.attr)
		require.Equal(t, `{"level":"INFO","msg":"m",`+c.want+"}\n", b.String())
	}

	b.Reset()
	log.With("token", "x").WithGroup("credentials").With("a", "x").Info("line\nforged C-1", "b", "x")
	require.Equal(t, `{"level":"INFO","msg":"line\\nforged [REDACTED]","token":"[REDACTED]","credentials":{"a":"[REDACTED]","b":"[REDACTED]"}}`+"\n", b.String())
	require.False(t, log.Enabled(context.Background(), slog.LevelDebug), "the other handler decides")
}
