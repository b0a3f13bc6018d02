package abi_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/message"
)

func TestDecodeOut(t *testing.T) {
	out, err := abi.DecodeOut(abi.HookBeforeRun, "", []byte(`{
		"extend_messages": [{"role":"user","text":"a"}], "extend_instructions": ["b"],
		"state": {"n": 1.0}, "metadata": {"k": [1]}, "later": {"x": 1}, "tools_v2": 3}`))
	require.NoError(t, err)
	require.Equal(t, []*message.Message{message.User("a")}, out.ExtendMessages)
	require.Equal(t, []string{"b"}, out.ExtendInstructions)
	require.Equal(t, `{"n": 1.0}`, string(out.State), "state keeps its bytes")
	require.Equal(t, `[1]`, string(out.Metadata["k"]))
	require.Equal(t, 2, out.Unknown)
}

func TestDecodeOutRefuses(t *testing.T) {
	for _, c := range []struct{ hook, text, want string }{
		{"before_run", "", "the hook returned nothing; a JSON object was wanted"},
		{"before_run", " \n", "the hook returned nothing"},
		{"before_run", "hello", "not valid JSON"},
		{"before_run", `{"state":{}} trailing`, "not valid JSON"},
		{"before_run", `{} {}`, "more JSON follows"},
		{"before_run", `null`, "an object was wanted, and null is there"},
		{"before_run", `{"state":"x"}`, "at /state: an object was wanted, and a string is there"},
		{"before_run", `{"state":{"a":1,"a":2}}`, "duplicate"},
		{"before_run", `{"state":{},"state":{}}`, "duplicate"},
		{"before_run", "{\"extend_instructions\":[\"\xff\"]}", "invalid UTF-8"},
		{"before_run", `{"extend_instructions":["\ud800"]}`, "surrogate"},
		{"before_run", `{"extend_instructions":[1]}`, "at /extend_instructions/0: a string was wanted, and a number is there"},
		{"before_run", `{"metadata":{"n":NaN}}`, "not valid JSON"},
		{"before_run", strings.Repeat("[", 100_000), "nests deeper than 64 levels"},
		{"before_run", `{"state":` + strings.Repeat(`{"a":`, 64) + `1` + strings.Repeat("}", 65), "nests deeper than 64 levels"},
		{"before_run", `{"extend_messages":[{"role":"user","contents":[{"type":"text","text":"a"},{"type":"video"}]}]}`, "at /extend_messages/0/contents/1: content type"},
		{"before_run", `{"error":{"code":"odd","message":"m"}}`, `code "odd" is not one of failed,`},
		{"before_run", `{"error":{}}`, `an error needs a "message"`},
		{"after_run", `{"extend_messages":[]}`, `after_run has no effect "extend_messages"; it may return state, metadata, error`},
		{"session_created", `{"metadata":{}}`, `session_created has no effect "metadata"`},
		{"init", `{"state":{}}`, `init has no effect "state"`},
	} {
		_, err := abi.DecodeOut(abi.Hook(c.hook), "", []byte(c.text))
		require.ErrorContains(t, err, c.want)
		var own *abi.OutputError
		require.ErrorAs(t, err, &own)
	}
	_, err := abi.DecodeOut(abi.HookBeforeRun, "", []byte(`{"STATE":{},"State":{}}`))
	require.NoError(t, err, "names differ by case, and are unknown then")
	_, err = abi.DecodeOut(abi.HookBeforeRun, "", []byte(`{"state":{"n":1e999}}`))
	require.NoError(t, err, "a number keeps its digits, however large")
}

func TestDecodeDescription(t *testing.T) {
	d, err := abi.DecodeDescription([]byte(`{"name":"docs","abi":1,"source_id":"docs","requires":[],
		"config_schema":{"type":"object"},"grants":{"read":["context:*"],"files":[{"guest":"/docs","mode":"ro"}]},"x":1}`))
	require.NoError(t, err)
	require.Equal(t, "docs", d.Name)
	require.Equal(t, []abi.FileGrant{{Guest: "/docs", Mode: "ro"}}, d.Grants.Files)
	require.Equal(t, 1, d.Unknown)

	for text, want := range map[string]string{
		`{"abi":"1"}`:                                         "at /abi: a whole number was wanted",
		`{"abi":1.5}`:                                         "whole number",
		`{"grants":{"network":["*"]}}`:                        `right "network" is not known to this host`,
		`{"grants":{"read":["secrets"]}}`:                     `read "secrets" is not one of`,
		`{"grants":{"read":["context:"]}}`:                    `read "context:" is not one of`,
		`{"grants":{"add":["tool"]}}`:                         `add "tool" is not one of`,
		`{"grants":{"roles":["root"]}}`:                       `role "root" is not one of`,
		`{"grants":{"files":[{"guest":"docs"}]}}`:             `"docs" is no absolute path`,
		`{"grants":{"files":[{"guest":"/docs","mode":"w"}]}}`: `mode "w" of /docs is not one of ro, rw`,
		`{"error":{"code":"failed","message":"no licence"}}`:  "no licence",
	} {
		_, err := abi.DecodeDescription([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
}

func TestErrorText(t *testing.T) {
	require.Equal(t, &abi.Error{Code: abi.CodeFailed, Message: "boom"}, abi.DecodeErrorText("boom"))
	require.Equal(t, &abi.Error{Code: abi.CodeNotFound, Message: "gone"},
		abi.DecodeErrorText(`{"error":{"code":"not_found","message":"gone"}}`))
	require.Equal(t, abi.CodeFailed, abi.DecodeErrorText(`{"error":{"code":"odd","message":"gone"}}`).Code)
	require.Equal(t, `{"error":`, abi.DecodeErrorText(`{"error":`).Message)
}

// Whatever a guest returns, decoding neither panics nor lets through what the schema refuses.
func FuzzDecodeOut(f *testing.F) {
	f.Add([]byte(`{"extend_messages":[{"role":"user","text":"a"}],"state":{"n":1}}`))
	f.Add([]byte(`{"error":{"message":"m"},"metadata":{"k":1}}`))
	f.Add([]byte(`{"state":{"a":"\ud800"}}`))
	f.Add([]byte(`{"state":{"n":1e999}}`))
	schema := definition(f, "Out")
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := abi.DecodeOut(abi.HookBeforeRun, "", data)
		if err != nil {
			var own *abi.OutputError
			if !errors.As(err, &own) {
				t.Fatalf("an error of another type: %T %v", err, err)
			}
			return
		}
		if err := meets(schema, data); err != nil {
			t.Fatalf("decoded, and the schema refuses it: %v\n%s", err, data)
		}
	})
}
