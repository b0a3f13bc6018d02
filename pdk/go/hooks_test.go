package pdk_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
	"github.com/weft-run/weft/pdk/go/pdktest"
)

func TestEachHookReturnsWhatItMay(t *testing.T) {
	message := pdk.User("hi")
	message.Attribution = "ephemeral"
	message.Properties = map[string]json.Raw{"b": json.Int(2), "a": json.String("x")}
	for _, c := range []struct {
		name string
		hook func() int32
		want string
	}{
		{"init", func() int32 { return pdk.Init(func(*pdk.In) error { return nil }) }, `{}`},
		{"session_created", func() int32 {
			return pdk.SessionCreated(func(_ *pdk.In, out *pdk.StateOut) error {
				out.SetState(`{"n":0}`)
				return nil
			})
		}, `{"state":{"n":0}}`},
		{"before_run", func() int32 {
			return pdk.BeforeRun(func(_ *pdk.In, out *pdk.ContextOut) error {
				out.ExtendMessages(message, pdk.Message{Role: pdk.RoleAssistant, Contents: []pdk.Content{
					pdk.Text{Text: "a"}, pdk.URI{URI: "x:y"},
				}})
				out.ExtendInstructions("one", "two")
				out.SetMetadata("k", json.Int(1))
				out.SetMetadata("l", json.Bool(true))
				out.SetMetadata("k", json.Int(2))
				out.SetState(`{"n":1}`)
				return nil
			})
		}, `{"extend_messages":[{"role":"user","text":"hi","attribution":"ephemeral","properties":{"a":"x","b":2}},` +
			`{"role":"assistant","contents":[{"type":"text","text":"a"},{"type":"uri","uri":"x:y"}]}],` +
			`"extend_instructions":["one","two"],"state":{"n":1},"metadata":{"k":2,"l":true}}`},
		{"after_run", func() int32 {
			return pdk.AfterRun(func(_ *pdk.In, out *pdk.RunOut) error {
				out.SetMetadata("k", `[1]`)
				return nil
			})
		}, `{"metadata":{"k":[1]}}`},
		{"run_failed", func() int32 {
			return pdk.RunFailed(func(in *pdk.In, out *pdk.RunOut) error {
				out.SetMetadata("code", json.String(string(in.Error.Code)))
				return nil
			})
		}, `{"metadata":{"code":"model"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := `{"abi":1,"hook":"` + c.name + `","error":{"code":"model","message":"no answer"}}`
			if have := pdktest.Call(t, c.hook, in); have != c.want {
				t.Errorf("want %s\nhave %s", c.want, have)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name string
		in   string
		hook func(in *pdk.In, out *pdk.ContextOut) error
		want string
	}{
		{
			"plain error", `{}`, func(_ *pdk.In, out *pdk.ContextOut) error { return errors.New("no luck") },
			`{"error":{"code":"failed","message":"no luck"}}`,
		},
		{"with a code, and the state is kept", `{}`, func(_ *pdk.In, out *pdk.ContextOut) error {
			out.SetState(`{"n":1}`)
			out.ExtendInstructions("dropped")
			out.SetMetadata("dropped", "1")
			return pdk.NewError(pdk.CodeNotFound, "no such note")
		}, `{"state":{"n":1},"error":{"code":"not_found","message":"no such note"}}`},
		{"wrapped", `{}`, func(*pdk.In, *pdk.ContextOut) error {
			return fmt.Errorf("notes: %w", pdk.NewError(pdk.CodeDenied, "locked"))
		}, `{"error":{"code":"denied","message":"notes: locked"}}`},
		{
			"without text", `{}`, func(*pdk.In, *pdk.ContextOut) error { return errors.New("") },
			`{"error":{"code":"failed","message":"the plugin failed and did not say why"}}`,
		},
		{
			"no input", ``, nil,
			`{"error":{"code":"invalid_input","message":"the host's input is not what the contract says: ` +
				`not valid JSON at byte 0: an object was wanted, and the text ends"}}`,
		},
		{"bad part", `{"input": [{"role": 7}]}`, func(in *pdk.In, _ *pdk.ContextOut) error {
			in.Input()
			return nil
		}, `{"error":{"code":"invalid_input","message":"the host's input is not what the contract says: ` +
			`at /0/role: a string was wanted, and a number is there"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := pdktest.Run(func() int32 { return pdk.BeforeRun(c.hook) }, c.in)
			if result.Output != c.want || result.Return != 0 {
				t.Errorf("want %s\nhave %s", c.want, result.Output)
			}
		})
	}
}

func TestPanics(t *testing.T) {
	for _, c := range []struct {
		name  string
		panic func()
		want  string
	}{
		{"text", func() { panic("lost") }, ": lost"},
		{"error", func() { panic(errors.New("lost")) }, ": lost"},
		{"other", func() { panic(7) }, ": a value that is neither an error nor text"},
		{"bounds", func() { _ = []int{1}[len(t.Name())] }, ": runtime error: index out of range [10] with length 1"},
		{"nil", func() { var m *pdk.Message; m.Role = "x" }, ": runtime error: invalid memory address or nil pointer dereference"},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := pdktest.Run(func() int32 {
				return pdk.AfterRun(func(_ *pdk.In, out *pdk.RunOut) error {
					out.SetState(`{"half":"done"}`)
					c.panic()
					return nil
				})
			}, `{}`)
			const begin = `{"error":{"code":"failed","message":"panic in github.com/weft-run/weft/pdk/go_test.TestPanics.func`
			if !strings.HasPrefix(result.Output, begin) || !strings.Contains(result.Output, " (hooks_test.go:") ||
				!strings.HasSuffix(result.Output, c.want+`"}}`) {
				t.Errorf("the place and %q were wanted: %s", c.want, result.Output)
			}
		})
	}
}

func TestLogs(t *testing.T) {
	result := pdktest.Run(func() int32 {
		pdk.LogDebug("a")
		pdk.LogInfo("")
		pdk.LogInfo("b, longer than a word")
		pdk.LogWarn("c")
		pdk.LogError("d")
		return 0
	}, `{}`)
	want := []pdktest.Log{
		{Level: "debug", Text: "a"},
		{Level: "info", Text: "b, longer than a word"},
		{Level: "warn", Text: "c"},
		{Level: "error", Text: "d"},
	}
	if fmt.Sprint(result.Logs) != fmt.Sprint(want) {
		t.Errorf("want %v, have %v", want, result.Logs)
	}
}

func TestInputsOfAnyLength(t *testing.T) {
	for n := range 40 {
		text := strings.Repeat("x", n)
		out := pdktest.Call(t, func() int32 {
			return pdk.BeforeRun(func(in *pdk.In, out *pdk.ContextOut) error {
				out.ExtendInstructions(in.Input()[0].Text())
				return nil
			})
		}, `{"input":[{"role":"user","text":"`+text+`"}]}`)
		if want := `{"extend_instructions":["` + text + `"]}`; out != want {
			t.Errorf("want %s, have %s", want, out)
		}
	}
}
