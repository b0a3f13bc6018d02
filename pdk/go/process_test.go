package pdk_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
	"github.com/weft-run/weft/pdk/go/pdktest"
)

const reply = `{"response":{"messages":[{"role":"assistant","contents":[{"type":"text","text":"ok"}]}],"finish_reason":"stop"}}`

// processed runs process with functions of the host that give these answers, and returns what the hook asked the host for
// and what it returned.
func processed(hook func() int32, input string, answers map[string][]string) (asked []string, output string) {
	host := pdktest.Host{Functions: map[string]func(string) string{}}
	for name, all := range answers {
		host.Functions[name] = pdktest.Answers(all...)
	}
	result := host.Run(hook, input)
	for _, a := range result.Asked {
		asked = append(asked, a.Function+" "+a.Input)
	}
	return asked, result.Output
}

func TestProcess(t *testing.T) {
	next := func(answers ...string) map[string][]string { return map[string][]string{"call_next": answers} }
	for _, c := range []struct {
		name    string
		layers  pdk.Layers
		in      string // the members beside those that all have
		answers map[string][]string
		asked   []string
		out     string
	}{
		{
			name: "chat: the reply passes as it is", layers: pdk.Layers{Chat: func(c *pdk.ChatContext) error { return c.Next() }},
			in: `"layer":"chat"`, answers: next(reply), asked: []string{`call_next {}`}, out: `{}`,
		},
		{
			name: "chat: what is changed before and after", layers: pdk.Layers{Chat: func(c *pdk.ChatContext) error {
				c.Append(pdk.User("more"))
				c.Splice(0, 1)
				c.SetInstructions("be brief")
				c.SetOption("temperature", "0")
				if err := c.Next(); err != nil {
					return err
				}
				c.SetText(c.Text() + "!")
				return nil
			}},
			in: `"layer":"chat"`, answers: next(reply),
			asked: []string{`call_next {"splice":[{"insert":[{"role":"user","text":"more"}]},{"start":0,"delete":1}],` +
				`"instructions":"be brief","options":{"temperature":0}}`},
			out: `{"response":{"messages":[{"role":"assistant","text":"ok!"}]}}`,
		},
		{
			name: "chat: all messages anew, and those that come behind them", layers: pdk.Layers{Chat: func(c *pdk.ChatContext) error {
				c.SetMessages(pdk.System("s"))
				c.Append(pdk.User("u"))
				return c.Next()
			}},
			in: `"layer":"chat"`, answers: next(reply),
			asked: []string{`call_next {"messages":[{"role":"system","text":"s"},{"role":"user","text":"u"}]}`}, out: `{}`,
		},
		{
			name: "chat: a change is told once", layers: pdk.Layers{Chat: func(c *pdk.ChatContext) error {
				c.Append(pdk.User("u"))
				return errors.Join(c.Next(), c.Next())
			}},
			in: `"layer":"chat"`, answers: next(reply, reply),
			asked: []string{`call_next {"splice":[{"insert":[{"role":"user","text":"u"}]}]}`, `call_next {}`}, out: `{}`,
		},
		{
			name: "chat: what is known of the request", layers: pdk.Layers{Chat: func(c *pdk.ChatContext) error {
				r := c.Request()
				c.SetOption("n", json.Int(r.Count))
				c.SetText(fmt.Sprintf("%v %v %s %s %s %s (%s) %s", r, c.Streaming, c.Name, c.Data, c.Option("top_p"),
					c.Option("n"), c.Option("seed"), c.SourceID))
				return nil
			}},
			in: `"layer":"chat","source_id":"guard","name":"nm","data":[1],"streaming":true,"options":{"top_p":1,"n":9},` +
				`"request":{"count":3,"instructions":"i","tools":["a","b"],"conversation_id":"c"}`,
			out: `{"response":{"messages":[{"role":"assistant","text":"{3 i [a b] c} true nm [1] 1 3 () guard"}]}}`,
		},
		{
			name: "chat: nothing is known of it", layers: pdk.Layers{Chat: func(c *pdk.ChatContext) error {
				if c.Request().Count != 0 || c.Response() != nil || c.Text() != "" || c.Option("x") != "" {
					t.Error("what is absent is empty")
				}
				return c.Terminate()
			}},
			in: `"layer":"chat"`, out: `{"terminate":true}`,
		},
		{
			name: "agent: messages and options", layers: pdk.Layers{Agent: func(c *pdk.AgentContext) error {
				c.Append(pdk.User("and this"))
				c.SetOption("store", json.Bool(c.Option("store") == "true"))
				err := errors.Join(c.Next(), c.Next())
				c.SetResponse(&pdk.Response{Messages: c.Messages()[:1], FinishReason: c.Response().FinishReason})
				return err
			}},
			in: `"layer":"agent","input":[{"role":"user","text":"hi"}],"options":{"store":true}`, answers: next(reply, reply),
			asked: []string{
				`call_next {"input":[{"role":"user","text":"hi"},{"role":"user","text":"and this"}],"options":{"store":true}}`,
				`call_next {"options":{"store":true}}`,
			},
			out: `{"response":{"messages":[{"role":"user","text":"hi"}],"finish_reason":"stop"}}`,
		},
		{
			name: "agent: terminated with an answer", layers: pdk.Layers{Agent: func(c *pdk.AgentContext) error {
				c.SetText("no")
				return c.Terminate()
			}},
			in: `"layer":"agent","streaming":true`, out: `{"response":{"messages":[{"role":"assistant","text":"no"}]},"terminate":true}`,
		},
		{
			name: "function: arguments and result", layers: pdk.Layers{Function: func(c *pdk.FunctionContext) error {
				if c.Result() != "" || c.Text() != "" {
					t.Error("before next there is no result")
				}
				c.SetArguments(json.Raw(strings.Replace(string(c.Call.Arguments), "1", "2", 1)))
				if err := c.Next(); err != nil {
					return err
				}
				c.SetText(c.Call.Name + " " + c.Call.CallID + " " + c.Call.SourceID + " " + c.Text() + string(c.Result()))
				return nil
			}},
			in:      `"layer":"function","call":{"call_id":"7","name":"add","arguments":{"a":1},"source_id":"tools"}`,
			answers: next(`{"result":"three"}`), asked: []string{`call_next {"arguments":{"a":2}}`},
			out: `{"result":"add 7 tools three\"three\""}`,
		},
		{
			name: "function: a result that is no text", layers: pdk.Layers{Function: func(c *pdk.FunctionContext) error {
				err := errors.Join(c.Next(), c.Next())
				c.SetResult(json.String(c.Text()))
				return err
			}},
			in: `"layer":"function"`, answers: next(`{"result":1}`, `{"result":{"b":2}}`),
			asked: []string{`call_next {}`, `call_next {}`}, out: `{"result":"{\"b\":2}"}`,
		},
		{
			name: "context: what is added goes down, and what is set afterwards goes out", layers: pdk.Layers{Context: func(c *pdk.SessionContext) error {
				c.ExtendMessages(pdk.User("note"))
				c.ExtendInstructions("i")
				c.SetMetadata("tries", "1")
				c.SetState(`{"n":1}`)
				if err := c.Next(); err != nil {
					return err
				}
				c.SetMetadata("seen", json.String(string(c.State)+fmt.Sprint(c.Context())+string(c.MetadataValue("tries"))+c.Text()))
				return nil
			}},
			in: `"layer":"context","state":{},"context":[],"metadata":{}`,
			answers: next(`{"response":{"messages":[{"role":"assistant","text":"ok"}]},"state":{"n":2},` +
				`"context":[{"source_id":"w","count":1}],"metadata":{"tries":1}}`),
			asked: []string{`call_next {"extend_messages":[{"role":"user","text":"note"}],"extend_instructions":["i"],"state":{"n":1},"metadata":{"tries":1}}`},
			out:   `{"metadata":{"seen":"{\"n\":2}[{w 1}]1ok"}}`,
		},
		{
			name: "context: another try, whose response is another", layers: pdk.Layers{Context: func(c *pdk.SessionContext) error {
				c.ExtendInstructions("once")
				if err := c.Next(); err != nil {
					return err
				}
				c.SetText("dropped by the next try")
				err := c.Next()
				if c.Text() != "second" {
					t.Errorf("the response is %q", c.Text())
				}
				return err
			}},
			in: `"layer":"context"`, answers: next(reply, `{"response":{"messages":[{"role":"assistant","text":"second"}]}}`),
			asked: []string{`call_next {"extend_instructions":["once"]}`, `call_next {}`}, out: `{}`,
		},
		{
			name: "context: an answer of its own", layers: pdk.Layers{Context: func(c *pdk.SessionContext) error {
				c.SetText("cached")
				return nil
			}},
			in: `"layer":"context"`, out: `{"response":{"messages":[{"role":"assistant","text":"cached"}]}}`,
		},
		{
			name: "a layer that the plugin does not have", layers: pdk.Layers{Chat: func(*pdk.ChatContext) error { return nil }},
			in: `"layer":"agent"`, out: `{"error":{"code":"invalid_input","message":"this plugin does not process the layer \"agent\""}}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked, out := processed(func() int32 { return pdk.Process(c.layers) }, `{"hook":"process",`+c.in+`}`, c.answers)
			if !reflect.DeepEqual(asked, c.asked) {
				t.Errorf("it asked for\n%s\nwanted\n%s", strings.Join(asked, "\n"), strings.Join(c.asked, "\n"))
			}
			if out != c.out {
				t.Errorf("it returned\n%s\nwanted\n%s", out, c.out)
			}
		})
	}
}

// The bodies for a single layer refuse the others.
func TestABodyForOneLayer(t *testing.T) {
	for layer, hook := range map[string]func() int32{
		"context":  func() int32 { return pdk.ProcessContext(func(c *pdk.SessionContext) error { return c.Next() }) },
		"agent":    func() int32 { return pdk.ProcessAgent(func(c *pdk.AgentContext) error { return c.Next() }) },
		"chat":     func() int32 { return pdk.ProcessChat(func(c *pdk.ChatContext) error { return c.Next() }) },
		"function": func() int32 { return pdk.ProcessFunction(func(c *pdk.FunctionContext) error { return c.Next() }) },
	} {
		for _, at := range []string{"context", "agent", "chat", "function"} {
			asked, out := processed(hook, `{"layer":"`+at+`"}`, map[string][]string{"call_next": {`{}`}})
			if (out == `{}`) != (at == layer) || (len(asked) == 1) != (at == layer) {
				t.Errorf("the body of %s at %s: %q, %s", layer, at, asked, out)
			}
		}
	}
}

// An error from below that a hook returns as it is keeps its cause; with other words it is the hook's own.
func TestErrorsFromBelow(t *testing.T) {
	const failure = `{"error":{"code":"model","message":"no answer","cause":2}}`
	for _, c := range []struct {
		name   string
		handle func(err error) error
		want   string
	}{
		{"passed on", func(err error) error { return err }, failure},
		{"joined with nothing", func(err error) error { return errors.Join(nil, err) }, failure},
		{"in other words", func(err error) error { return fmt.Errorf("chat: %w", err) }, `{"error":{"code":"model","message":"chat: no answer"}}`},
		{"caught", func(err error) error {
			if coded, ok := errors.AsType[*pdk.Error](err); !ok || coded.Code != pdk.CodeModel || coded.Cause != 2 {
				return err
			}
			return nil
		}, `{"response":{"messages":[{"role":"assistant","text":"from the first try"}]}}`},
	} {
		hook := func() int32 {
			return pdk.ProcessChat(func(chat *pdk.ChatContext) error {
				chat.SetText("from the first try")
				return c.handle(chat.Next())
			})
		}
		t.Run(c.name, func(t *testing.T) {
			_, out := processed(hook, `{"layer":"chat"}`, map[string][]string{"call_next": {failure}})
			if out != c.want {
				t.Errorf("want %s\nhave %s", c.want, out)
			}
		})
	}
}

// A wrapping provider that fails keeps the state that it set since the last next, as any hook does.
func TestAFailedWrappingProviderKeepsItsState(t *testing.T) {
	_, out := processed(func() int32 {
		return pdk.ProcessContext(func(c *pdk.SessionContext) error {
			c.SetState(`{"told":1}`)
			err := c.Next()
			c.SetState(`{"failures":1}`)
			c.ExtendInstructions("dropped")
			return err
		})
	}, `{"layer":"context"}`, map[string][]string{"call_next": {`{"error":{"code":"model","message":"m","cause":1}}`}})
	if want := `{"state":{"failures":1},"error":{"code":"model","message":"m","cause":1}}`; out != want {
		t.Errorf("want %s\nhave %s", want, out)
	}
}

// What Messages and Last show of a model call is what the host will have when next is called.
func TestMessagesOfAModelCall(t *testing.T) {
	numbered := `{"ranges":[{"messages":[{"role":"user","text":"0"},{"role":"user","text":"1"},{"role":"user","text":"2"}],"start":0,"total":3}]}`
	for _, c := range []struct {
		name   string
		change func(c *pdk.ChatContext)
		want   string
	}{
		{"as they came", func(*pdk.ChatContext) {}, "0 1 2"},
		{"appended", func(c *pdk.ChatContext) { c.Append(pdk.User("a"), pdk.User("b")) }, "0 1 2 a b"},
		{"at the front", func(c *pdk.ChatContext) { c.Splice(0, 0, pdk.User("a")) }, "a 0 1 2"},
		{"before the last", func(c *pdk.ChatContext) { c.Splice(-1, 0, pdk.User("a")) }, "0 1 a 2"},
		{"the last replaced", func(c *pdk.ChatContext) { c.Splice(-1, 1, pdk.User("a")) }, "0 1 a"},
		{"all but the first", func(c *pdk.ChatContext) { c.Splice(-2, 2) }, "0"},
		{"one after the other", func(c *pdk.ChatContext) { c.Append(pdk.User("a")); c.Splice(0, 2); c.Append(pdk.User("b")) }, "2 a b"},
		{"replaced", func(c *pdk.ChatContext) {
			c.Append(pdk.User("a"))
			c.SetMessages(pdk.User("x"))
			c.Append(pdk.User("y"))
		}, "x y"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, early := range []bool{false, true} {
				asked, _ := processed(func() int32 {
					return pdk.ProcessChat(func(chat *pdk.ChatContext) error {
						if early {
							chat.Messages()
						}
						c.change(chat)
						var texts []string
						for _, m := range chat.Messages() {
							texts = append(texts, m.Text())
						}
						if have := strings.Join(texts, " "); have != c.want {
							t.Errorf("it sees %s, wanted %s", have, c.want)
						}
						if last := chat.Last(1); len(last) != 1 || last[0].Text() != texts[len(texts)-1] {
							t.Errorf("the last one is %v", last)
						}
						return nil
					})
				}, `{"layer":"chat"}`, map[string][]string{"get_messages": {numbered}})
				if len(asked) > 1 {
					t.Errorf("it fetched more than once: %q", asked)
				}
			}
		})
	}
}

// The host refuses what lies outside of the list; until then nothing breaks.
func TestASpliceOutsideOfTheListIsLeftToTheHost(t *testing.T) {
	const page = `{"ranges":[{"messages":[{"role":"user","text":"0"}],"start":0,"total":1}]}`
	asked, out := processed(func() int32 {
		return pdk.ProcessChat(func(c *pdk.ChatContext) error {
			c.Splice(9, 1)
			c.Splice(-9, 9)
			c.Splice(0, -1)
			c.Messages()
			return c.Next()
		})
	}, `{"layer":"chat"}`, map[string][]string{
		"get_messages": {page}, "call_next": {`{"error":{"code":"invalid_input","message":"outside"}}`},
	})
	if want := `call_next {"splice":[{"start":9,"delete":1},{"start":-9,"delete":9},{"start":0,"delete":-1}]}`; asked[1] != want {
		t.Errorf("want %s\nhave %s", want, asked[1])
	}
	if want := `{"error":{"code":"invalid_input","message":"outside"}}`; out != want {
		t.Errorf("want %s\nhave %s", want, out)
	}
}

func TestTheLastMessagesOfAModelCallAreFetchedAlone(t *testing.T) {
	asked, out := processed(func() int32 {
		return pdk.ProcessChat(func(c *pdk.ChatContext) error {
			if none := c.Last(0); none != nil {
				t.Errorf("none were wanted, and %v are there", none)
			}
			last := c.Last(2)
			c.SetText(last[0].Text())
			return nil
		})
	}, `{"layer":"chat"}`, map[string][]string{
		"get_messages": {`{"ranges":[{"messages":[{"role":"user","text":"penultimate"},{"role":"user","text":"last"}],"start":5,"total":7}]}`},
	})
	if want := []string{`get_messages {"ranges":[{"part":"request","start":-2}]}`}; !reflect.DeepEqual(asked, want) {
		t.Errorf("want %s\nhave %s", want, asked)
	}
	if want := `{"response":{"messages":[{"role":"assistant","text":"penultimate"}]}}`; out != want {
		t.Errorf("want %s\nhave %s", want, out)
	}
}

// Middleware further in may have changed the messages, so they are fetched anew after next.
func TestMessagesAreFetchedAnewAfterNext(t *testing.T) {
	const page = `{"ranges":[{"messages":[],"start":0,"total":0}]}`
	asked, _ := processed(func() int32 {
		return pdk.ProcessChat(func(c *pdk.ChatContext) error {
			c.Messages()
			err := c.Next()
			c.Messages()
			return err
		})
	}, `{"layer":"chat"}`, map[string][]string{"get_messages": {page, page}, "call_next": {reply}})
	if len(asked) != 3 {
		t.Errorf("it asked %q", asked)
	}
}

// What the host refuses to give is the hook's failure, with the host's words.
func TestMessagesThatAreRefused(t *testing.T) {
	_, out := processed(func() int32 {
		return pdk.ProcessChat(func(c *pdk.ChatContext) error { c.Messages(); return nil })
	}, `{"layer":"chat"}`, nil)
	if want := `{"error":{"code":"denied","message":"the host of this test has no function get_messages"}}`; out != want {
		t.Errorf("want %s\nhave %s", want, out)
	}
}
