package pdktest

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

func TestAHostThatAnswersNothing(t *testing.T) {
	result := Run(func() int32 {
		return pdk.AfterRun(func(*pdk.In, *pdk.RunOut) error { return pdk.Emit("x", "") })
	}, `{}`)
	if want := `{"error":{"code":"denied","message":"the host of this test has no function emit"}}`; result.Output != want {
		t.Errorf("want %s\nhave %s", want, result.Output)
	}
	if len(result.Asked) != 1 || result.Asked[0].Function != "emit" || result.Asked[0].Input != `{"name":"x"}` ||
		!strings.Contains(result.Asked[0].Output, "denied") {
		t.Errorf("it was asked %v", result.Asked)
	}
}

func TestAnswersComeOneAfterTheOther(t *testing.T) {
	next := Answers(`{"a":1}`, `{"b":2}`)
	if first, second := next(""), next(""); first != `{"a":1}` || second != `{"b":2}` {
		t.Errorf("%s and %s", first, second)
	}
	if third := next(""); third != `{"error":{"code":"internal","message":"this is call 3, and the test has 2 answers"}}` {
		t.Error(third)
	}
}

func TestCallWithAHost(t *testing.T) {
	host := &Host{Functions: map[string]func(string) string{"call_next": Answers(`{"result":"ok"}`)}}
	out := host.Call(t, func() int32 {
		return pdk.ProcessFunction(func(c *pdk.FunctionContext) error {
			err := c.Next()
			c.SetText(c.Text() + "!")
			return err
		})
	}, `{"layer":"function"}`)
	if out != `{"result":"ok!"}` {
		t.Error(out)
	}
}

// What is stored stays for further hooks, each scope by itself, and versions tell who was first.
func TestKV(t *testing.T) {
	host := &Host{Functions: KV()}
	var seen []string
	run := func(f func(kv pdk.Store) error) {
		host.Call(t, func() int32 {
			return pdk.AfterRun(func(*pdk.In, *pdk.RunOut) error { return f(pdk.KV(pdk.ScopeAgent)) })
		}, `{}`)
	}
	var first, second int
	run(func(kv pdk.Store) (err error) {
		first, err = kv.SetIf("a", json.Int(1), 0)
		return err
	})
	run(func(kv pdk.Store) (err error) {
		second, err = kv.Set("a", `{"n":2}`)
		return err
	})
	if first == 0 || second <= first {
		t.Errorf("versions grow: %d, %d", first, second)
	}
	run(func(kv pdk.Store) error {
		entry, found, err := kv.Get("a")
		if err != nil || !found || entry.Value != `{"n":2}` || entry.Version != second {
			t.Errorf("it has %v, %t, %v", entry, found, err)
		}
		if _, err := kv.SetIf("a", "3", first); err == nil || !strings.Contains(err.Error(), "another version") {
			t.Errorf("an old version is a conflict: %v", err)
		}
		if _, err := kv.SetIf("a", "3", 0); err == nil {
			t.Error("a key that is there is no new one")
		}
		if _, found, _ := pdk.KV(pdk.ScopeSession).Get("a"); found {
			t.Error("another scope has it too")
		}
		if _, err := kv.DeleteIf("a", first); err == nil {
			t.Error("an old version is deleted")
		}
		deleted, err := kv.DeleteIf("a", second)
		again, _ := kv.Delete("a")
		if !deleted || again {
			t.Errorf("deleted %t, and again %t", deleted, again)
		}
		return err
	})
	run(func(kv pdk.Store) error {
		for _, key := range []string{"b", "a/2", "a/1", "c"} {
			if _, err := kv.Set(key, json.String(key)); err != nil {
				return err
			}
		}
		entries, more, err := kv.List(pdk.List{Prefix: "a/"})
		for _, e := range entries {
			seen = append(seen, e.Key+string(e.Value))
		}
		if more || strings.Join(seen, " ") != "a/1 a/2" {
			t.Errorf("it lists %q, more %t", seen, more)
		}
		entries, more, _ = kv.List(pdk.List{After: "a/1", Limit: 2, Values: true})
		if !more || len(entries) != 2 || entries[1].Value != `"b"` {
			t.Errorf("it lists %v, more %t", entries, more)
		}
		return err
	})
}

// Golden files may need a host as well.
func TestCasesWithAHost(t *testing.T) {
	asked := 0
	Cases{
		Dir: "testdata/host",
		Hooks: Hooks{"process": func() int32 {
			return pdk.ProcessChat(func(c *pdk.ChatContext) error { return c.Next() })
		}},
		Host: &Host{Functions: map[string]func(string) string{"call_next": func(string) string {
			asked++
			return `{}`
		}}},
	}.Test(t)
	if asked != 1 {
		t.Errorf("the host was asked %d times", asked)
	}
}
