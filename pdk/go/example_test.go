package pdk_test

import (
	"fmt"
	"strconv"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
	"github.com/weft-run/weft/pdk/go/pdktest"
)

// In a plugin this function has the line "//go:wasmexport before_run" above it.
func beforeRun() int32 {
	return pdk.BeforeRun(func(in *pdk.In, out *pdk.ContextOut) error {
		out.ExtendInstructions("Answer in one sentence.")
		return nil
	})
}

func ExampleBeforeRun() {
	fmt.Println(pdktest.Run(beforeRun, `{"hook": "before_run"}`).Output)
	// Output: {"extend_instructions":["Answer in one sentence."]}
}

// counter is a plugin's state.
type counter struct{ Runs int }

func (c *counter) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		if name == "runs" {
			c.Runs = r.Int()
		}
	}
}

func (c *counter) WriteJSON(w *json.Writer) {
	w.Object(func() { w.Name("runs").Int(c.Runs) })
}

func ExampleAfterRun() {
	afterRun := func() int32 {
		return pdk.AfterRun(func(in *pdk.In, out *pdk.RunOut) error {
			var c counter
			if err := in.ReadState(&c); err != nil {
				return err
			}
			c.Runs++
			out.WriteState(&c)
			return nil
		})
	}
	fmt.Println(pdktest.Run(afterRun, `{"hook": "after_run"}`).Output)
	fmt.Println(pdktest.Run(afterRun, `{"hook": "after_run", "state": {"runs": 1}}`).Output)
	// Output:
	// {"state":{"runs":1}}
	// {"state":{"runs":2}}
}

func ExampleNewError() {
	init := func() int32 {
		return pdk.Init(func(in *pdk.In) error {
			level := json.NewReader(in.Config).Int()
			return pdk.NewError(pdk.CodeInvalidInput, "a level from 1 to 5 was wanted, and "+strconv.Itoa(level)+" is there")
		})
	}
	fmt.Println(pdktest.Run(init, `{"hook": "init", "config": 7}`).Output)
	// Output: {"error":{"code":"invalid_input","message":"a level from 1 to 5 was wanted, and 7 is there"}}
}

func ExampleDescribe() {
	describe := func() int32 {
		return pdk.Describe(pdk.Description{
			Name:     "polite",
			Version:  "0.1.0",
			SourceID: "polite",
			Grants:   pdk.Grants{Read: []string{"metadata"}},
		})
	}
	fmt.Println(pdktest.Run(describe, `{"hook": "describe"}`).Output)
	// Output: {"name":"polite","version":"0.1.0","abi":1,"source_id":"polite","grants":{"read":["metadata"]}}
}

func ExampleProcessChat() {
	process := func() int32 {
		return pdk.ProcessChat(func(c *pdk.ChatContext) error {
			c.Append(pdk.User("Answer in one sentence."))
			if err := c.Next(); err != nil {
				return err
			}
			c.SetText(c.Text() + " (in one sentence)")
			return nil
		})
	}
	host := pdktest.Host{Functions: map[string]func(string) string{
		"call_next": pdktest.Answers(`{"response": {"messages": [{"role": "assistant", "text": "Yes."}]}}`),
	}}
	result := host.Run(process, `{"hook": "process", "layer": "chat"}`)
	fmt.Println(result.Asked[0].Input)
	fmt.Println(result.Output)
	// Output:
	// {"splice":[{"insert":[{"role":"user","text":"Answer in one sentence."}]}]}
	// {"response":{"messages":[{"role":"assistant","text":"Yes. (in one sentence)"}]}}
}

func ExampleKV() {
	afterRun := func() int32 {
		return pdk.AfterRun(func(in *pdk.In, out *pdk.RunOut) error {
			kv := pdk.KV(pdk.ScopeAgent)
			var c counter
			version, err := kv.Read("runs", &c)
			if err != nil {
				return err
			}
			c.Runs++
			_, err = kv.SetIf("runs", json.Marshal(&c), version)
			return err
		})
	}
	host := pdktest.Host{Functions: pdktest.KV()}
	host.Run(afterRun, `{"hook": "after_run"}`)
	fmt.Println(host.Run(afterRun, `{"hook": "after_run"}`).Asked[1].Input)
	// Output: {"scope":"agent","key":"runs","value":{"runs":2},"if_version":1}
}
