package pdk_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
	"github.com/weft-run/weft/pdk/go/pdktest"
)

// inHook runs f in a hook, with one answer of the host, and returns what the host was asked.
func inHook(t *testing.T, function, answer string, f func()) string {
	t.Helper()
	host := pdktest.Host{Functions: map[string]func(string) string{function: pdktest.Answers(answer)}}
	result := host.Run(func() int32 {
		return pdk.AfterRun(func(*pdk.In, *pdk.RunOut) error { f(); return nil })
	}, `{}`)
	if result.Output != `{}` || len(result.Asked) != 1 {
		t.Fatalf("the host was asked %v, and the hook returned %s", result.Asked, result.Output)
	}
	return result.Asked[0].Input
}

// Each function of the host gets what it was given, and what it returns arrives.
func TestFunctionsOfTheHost(t *testing.T) {
	kv := pdk.KV(pdk.ScopeSession)
	for _, c := range []struct {
		function, in, out string
		call              func() string // what arrived
		arrived           string
	}{
		{"kv_get", `{"scope":"session","key":"k"}`, `{"found":true,"value":{"a":[1]},"version":3}`, func() string {
			e, found, err := kv.Get("k")
			return shown(e.Key, string(e.Value), e.Version, found, err)
		}, `k {"a":[1]} 3 true <nil>`},
		{"kv_get", `{"scope":"agent","key":"k"}`, `{"found":false}`, func() string {
			c := counter{Runs: 7}
			version, err := pdk.KV(pdk.ScopeAgent).Read("k", &c)
			return shown(c.Runs, version, err)
		}, `7 0 <nil>`},
		{"kv_get", `{"scope":"session","key":"k"}`, `{"found":true,"value":{"runs":"x"},"version":3}`, func() string {
			_, err := kv.Read("k", &counter{})
			return err.Error()
		}, `kv: k: at /runs: a number was wanted, and a string is there`},
		{"kv_set", `{"scope":"session","key":"k","value":"v"}`, `{"version":4}`, func() string {
			return shown(kv.Set("k", json.String("v")))
		}, `4 <nil>`},
		{"kv_set", `{"scope":"session","key":"k","value":1,"if_version":0,"ttl":60}`, `{"error":{"code":"conflict","message":"it is there"}}`, func() string {
			version, err := kv.Expiring(60).SetIf("k", "1", 0)
			return shown(version, codeOf(err), err)
		}, `0 conflict it is there`},
		{"kv_delete", `{"scope":"session","key":"k"}`, `{"deleted":true}`, func() string {
			return shown(kv.Delete("k"))
		}, `true <nil>`},
		{"kv_delete", `{"scope":"session","key":"k","if_version":2}`, `{"deleted":false}`, func() string {
			return shown(kv.DeleteIf("k", 2))
		}, `false <nil>`},
		{"kv_list", `{"scope":"session"}`, `{"entries":[{"key":"a","version":1},{"key":"b","version":2}],"more":true}`, func() string {
			return shown(kv.List(pdk.List{}))
		}, `[{a  1} {b  2}] true <nil>`},
		{"kv_list", `{"scope":"session","prefix":"p/","after":"p/a","limit":7,"values":true}`, `{"entries":[],"more":false}`, func() string {
			return shown(kv.List(pdk.List{Prefix: "p/", After: "p/a", Limit: 7, Values: true}))
		}, `[] false <nil>`},
		{"complete", `{"messages":[{"role":"user","text":"q"}],"instructions":"i","options":{"max_tokens":5}}`, reply, func() string {
			r, err := pdk.Complete(pdk.Completion{Messages: []pdk.Message{pdk.User("q")}, Instructions: "i", Options: `{"max_tokens":5}`})
			return shown(r.Text(), r.FinishReason, err)
		}, `ok stop <nil>`},
		{"complete", `{"messages":[]}`, `{"error":{"code":"limit","message":"no more calls"}}`, func() string {
			r, err := pdk.Complete(pdk.Completion{})
			return shown(r == nil, codeOf(err))
		}, `true limit`},
		{"embed", `{"texts":["a","b"]}`, `{"vectors":[[1,-0.5],[0.25,2e1]]}`, func() string {
			return shown(pdk.Embed("a", "b"))
		}, `[[1 -0.5] [0.25 20]] <nil>`},
		{"embed", `{"texts":["a","b"]}`, `{"vectors":[[1]]}`, func() string {
			vectors, err := pdk.Embed("a", "b")
			return shown(vectors == nil, codeOf(err))
		}, `true internal`},
		{
			"search", `{"index":"docs","query":"q","limit":2}`,
			`{"hits":[{"id":"1","score":0.5,"title":"t","text":"x","url":"u","metadata":{"a":1}},{"id":"2","score":0.1,"title":"","text":"y"}]}`,
			func() string { return shown(pdk.Search("docs", "q", 2)) },
			`[{1 0.5 t x u {"a":1}} {2 0.1  y  }] <nil>`,
		},
		{"search", `{"index":"docs","query":"q"}`, `{"hits":[]}`, func() string {
			return shown(pdk.Search("docs", "q", 0))
		}, `[] <nil>`},
		{"index_put", `{"index":"docs","documents":[{"id":"1","text":"x","title":"t","url":"u","metadata":{}},{"id":"2","text":"y"}]}`, `{}`, func() string {
			return shown(pdk.IndexPut("docs", pdk.Document{ID: "1", Text: "x", Title: "t", URL: "u", Metadata: "{}"}, pdk.Document{ID: "2", Text: "y"}))
		}, `<nil>`},
		{"index_delete", `{"index":"docs","ids":["1","2"]}`, `{"deleted":2}`, func() string {
			return shown(pdk.IndexDelete("docs", "1", "2"))
		}, `2 <nil>`},
		{"emit", `{"name":"progress","data":[1]}`, `{}`, func() string { return shown(pdk.Emit("progress", "[1]")) }, `<nil>`},
		{"emit", `{"name":"progress"}`, `{"error":{"code":"denied","message":"events is not granted"}}`, func() string {
			return codeOf(pdk.Emit("progress", ""))
		}, `denied`},
		{"request", `{"name":"sure?","data":{},"wait_ms":500}`, `{"answered":true,"answer":{"yes":1}}`, func() string {
			return shown(pdk.Request("sure?", "{}", 500))
		}, `{"yes":1} true <nil>`},
		{"request", `{"name":"sure?"}`, `{"answered":false}`, func() string { return shown(pdk.Request("sure?", "", 0)) }, ` false <nil>`},
		{
			"get_messages", `{"ranges":[{"part":"input"},{"source_id":"in_memory","start":-2,"count":1},{"start":3}]}`,
			`{"ranges":[{"messages":[],"start":0,"total":0},{"messages":[{"role":"user","text":"a"}],"start":4,"total":6},{"messages":[],"start":3,"total":3}]}`,
			func() string {
				pages, err := pdk.GetMessages(pdk.Range{Part: pdk.PartInput}, pdk.Range{SourceID: "in_memory", Start: -2, Count: 1}, pdk.Range{Start: 3})
				return shown(len(pages), pages[1].Messages[0].Text(), pages[1].Start, pages[1].Total, err)
			}, `3 a 4 6 <nil>`,
		},
		{"get_messages", `{"ranges":[{}]}`, `{"ranges":[]}`, func() string {
			pages, err := pdk.GetMessages(pdk.Range{})
			return shown(pages == nil, codeOf(err))
		}, `true internal`},
	} {
		t.Run(c.function, func(t *testing.T) {
			asked := inHook(t, c.function, c.out, func() {
				if have := c.call(); have != c.arrived {
					t.Errorf("%s arrived, wanted %s", have, c.arrived)
				}
			})
			if asked != c.in {
				t.Errorf("the host was asked\n%s, wanted\n%s", asked, c.in)
			}
		})
	}
}

// shown are values with spaces between them.
func shown(values ...any) string { return strings.TrimSuffix(fmt.Sprintln(values...), "\n") }

func codeOf(err error) string {
	if coded, ok := errors.AsType[*pdk.Error](err); ok {
		return string(coded.Code)
	}
	return fmt.Sprint("no code: ", err)
}

func TestNoRangeAsksForNothing(t *testing.T) {
	if pages, err := pdk.GetMessages(); pages != nil || err != nil {
		t.Errorf("%v, %v", pages, err)
	}
}

func TestSourcesFetchTheirMessages(t *testing.T) {
	host := pdktest.Host{Functions: map[string]func(string) string{"get_messages": func(input string) string {
		return `{"ranges":[{"messages":[{"role":"user","text":` + string(json.String(input)) + `}],"start":0,"total":1}]}`
	}}}
	var have []string
	host.Call(t, func() int32 {
		return pdk.BeforeRun(func(in *pdk.In, _ *pdk.ContextOut) error {
			sources := in.Context()
			for _, m := range slices.Concat(sources[0].Messages(), sources[0].Last(3), sources[0].Last(0), sources[1].Messages(), in.Messages()) {
				have = append(have, m.Text())
			}
			return nil
		})
	}, `{"context":[{"source_id":"h","count":9},{"source_id":"none","count":0}]}`)
	want := []string{
		`{"ranges":[{"source_id":"h"}]}`,
		`{"ranges":[{"part":"context","source_id":"h","start":-3}]}`,
		`{"ranges":[{"part":"context"}]}`,
	}
	if !slices.Equal(have, want) {
		t.Errorf("the host was asked\n%s, wanted\n%s", strings.Join(have, "\n"), strings.Join(want, "\n"))
	}
}

// All goes over as many parts as there are, and fetches no more of them than are looked at.
func TestAllStoredValues(t *testing.T) {
	host := pdktest.Host{Functions: pdktest.KV()}
	result := host.Run(func() int32 {
		return pdk.AfterRun(func(_ *pdk.In, out *pdk.RunOut) error {
			kv := pdk.KV(pdk.ScopeAgent)
			for i := range 250 {
				if _, err := kv.Set("n/"+fmt.Sprintf("%03d", i), json.Int(i)); err != nil {
					return err
				}
			}
			if _, err := kv.Set("other", "1"); err != nil {
				return err
			}
			n, last := 0, json.Raw("")
			for e, err := range kv.All("n/") {
				if err != nil {
					return err
				}
				n, last = n+1, e.Value
			}
			for e, err := range kv.All("") {
				if err != nil || e.Key != "n/000" {
					return errors.Join(err, errors.New(e.Key))
				}
				break
			}
			out.SetMetadata("seen", `[`+json.Int(n)+`,`+last+`]`)
			return nil
		})
	}, `{}`)
	if want := `{"metadata":{"seen":[250,249]}}`; result.Output != want {
		t.Errorf("want %s, have %s", want, result.Output)
	}
	lists := 0
	for _, a := range result.Asked {
		if a.Function == "kv_list" {
			lists++
		}
	}
	if lists != 4 {
		t.Errorf("it listed %d times, and 3 parts and the first one of another were wanted", lists)
	}
}

func TestAllStoredValuesEndWithAnError(t *testing.T) {
	var seen []string
	host := pdktest.Host{Functions: map[string]func(string) string{
		"kv_list": pdktest.Answers(`{"entries":[{"key":"a","value":1,"version":1}],"more":true}`, `{"error":{"code":"limit","message":"enough"}}`),
	}}
	host.Call(t, func() int32 {
		return pdk.AfterRun(func(*pdk.In, *pdk.RunOut) error {
			for e, err := range pdk.KV(pdk.ScopeAgent).All("") {
				seen = append(seen, fmt.Sprint(e.Key, err))
			}
			return nil
		})
	}, `{}`)
	if want := []string{"a<nil>", "enough"}; !slices.Equal(seen, want) {
		t.Errorf("want %q, have %q", want, seen)
	}
}

func TestHTTP(t *testing.T) {
	var sent pdk.HTTPRequest
	host := pdktest.Host{HTTP: func(r pdk.HTTPRequest) pdk.HTTPResponse {
		sent = r
		if r.Method == "" {
			return pdk.HTTPResponse{} // nobody answers
		}
		return pdk.HTTPResponse{Status: 404, Headers: map[string]string{"content-type": "text/plain"}, Body: "not here"}
	}}
	result := host.Run(func() int32 {
		return pdk.AfterRun(func(_ *pdk.In, out *pdk.RunOut) error {
			r, err := pdk.HTTP(pdk.HTTPRequest{
				Method: "POST", URL: "https://api.example.com/v1", Body: []byte("body"),
				Headers: map[string]string{"b": "2", "a": "Bearer {{secret.KEY}}"},
			})
			if err != nil {
				return err
			}
			out.SetMetadata("r", json.String(fmt.Sprint(r.Status, r.Headers["content-type"], r.Body)))
			_, err = pdk.HTTP(pdk.HTTPRequest{URL: "https://silent.example"})
			out.SetMetadata("silent", json.String(codeOf(err)))
			return nil
		})
	}, `{}`)
	if want := `{"metadata":{"r":"404text/plainnot here","silent":"unavailable"}}`; result.Output != want {
		t.Errorf("want %s\nhave %s", want, result.Output)
	}
	if want := `{"method":"POST","url":"https://api.example.com/v1","headers":{"a":"Bearer {{secret.KEY}}","b":"2"}}`; result.Asked[0].Input != want {
		t.Errorf("want %s\nhave %s", want, result.Asked[0].Input)
	}
	if sent.URL != "https://silent.example" || len(sent.Body) != 0 {
		t.Errorf("the last request is %v", sent)
	}
}

// What a host answers that is against the contract is a failure that says so, and no answer.
func TestAnAnswerThatIsNone(t *testing.T) {
	for _, answer := range []string{``, `[]`, `{"version":"x"}`, `{"version":1} {}`, `{"error":7}`} {
		host := pdktest.Host{Functions: map[string]func(string) string{"kv_set": pdktest.Answers(answer)}}
		result := host.Run(func() int32 {
			return pdk.AfterRun(func(*pdk.In, *pdk.RunOut) error {
				_, err := pdk.KV(pdk.ScopeAgent).Set("k", "1")
				return err
			})
		}, `{}`)
		if !strings.HasPrefix(result.Output, `{"error":{"code":"invalid_input","message":"the host's answer is not what the contract says: `) {
			t.Errorf("%q became %s", answer, result.Output)
		}
	}
}

// What the rest of a chain does may be a hook of the same plugin: each call has what is its own.
func TestHooksWithinHooks(t *testing.T) {
	afterRun := func() int32 {
		return pdk.AfterRun(func(in *pdk.In, out *pdk.RunOut) error {
			pdk.LogInfo("inner")
			out.SetState(in.State)
			return nil
		})
	}
	var inner pdktest.Result
	host := pdktest.Host{Functions: map[string]func(string) string{"call_next": func(string) string {
		inner = pdktest.Run(afterRun, `{"state":{"long enough for more than one word":1}}`)
		return `{"state":{"n":2}}`
	}}}
	outer := host.Run(func() int32 {
		return pdk.ProcessContext(func(c *pdk.SessionContext) error {
			pdk.LogInfo("before")
			c.SetState(`{"n":1}`)
			err := c.Next()
			pdk.LogInfo("after " + string(c.State))
			return err
		})
	}, `{"layer":"context"}`)
	if want := `{"state":{"long enough for more than one word":1}}`; inner.Output != want || len(inner.Logs) != 1 {
		t.Errorf("the inner hook returned %s and logged %v", inner.Output, inner.Logs)
	}
	if outer.Output != `{}` || fmt.Sprint(outer.Logs) != `[{info before} {info after {"n":2}}]` || outer.Asked[0].Input != `{"state":{"n":1}}` {
		t.Errorf("the outer hook returned %s, logged %v and asked %v", outer.Output, outer.Logs, outer.Asked)
	}
}

// Outside of a hook nobody answers.
func TestOutsideOfAHookThereIsNoHost(t *testing.T) {
	defer func() {
		if value := recover(); value == nil || !strings.Contains(fmt.Sprint(value), "pdktest") {
			t.Errorf("it panicked with %v", value)
		}
	}()
	_ = pdk.Emit("x", "")
}
