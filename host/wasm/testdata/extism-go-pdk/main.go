// Command extism-go-pdk is a plugin written with Extism's own PDK for Go, unmodified: it must run as it is.
package main

import (
	"encoding/json"

	"github.com/extism/go-pdk"
)

type message struct {
	Role     string `json:"role"`
	Text     string `json:"text,omitempty"`
	Contents []struct {
		Text string `json:"text"`
	} `json:"contents,omitempty"`
}

//go:wasmexport before_run
func beforeRun() int32 {
	var in struct {
		Input []message `json:"input"`
	}
	if err := json.Unmarshal(pdk.Input(), &in); err != nil {
		pdk.SetError(err)
		return 1
	}
	if len(in.Input) == 0 || in.Input[0].Contents[0].Text == "fail" {
		pdk.SetErrorString("asked to fail")
		return 1
	}
	pdk.Log(pdk.LogInfo, "heard "+in.Input[0].Contents[0].Text)
	runs := 0
	if raw := pdk.GetVar("runs"); raw != nil {
		runs = int(raw[0])
	}
	pdk.SetVar("runs", []byte{byte(runs + 1)})
	out := struct {
		ExtendMessages []message      `json:"extend_messages"`
		State          map[string]int `json:"state"`
	}{
		[]message{{Role: "user", Text: "heard: " + in.Input[0].Contents[0].Text}},
		map[string]int{"vars_seen": runs},
	}
	if err := pdk.OutputJSON(out); err != nil {
		pdk.SetError(err)
		return 1
	}
	return 0
}

func main() {}
