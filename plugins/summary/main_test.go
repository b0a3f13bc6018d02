package main

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/pdk/go/pdktest"
)

func TestCases(t *testing.T) {
	pdktest.Cases{Hooks: pdktest.Hooks{"describe": describe, "before_run": beforeRun}}.Test(t)
}

func TestTheSummaryStandsInThePlaceOfWhatItCovers(t *testing.T) {
	var sent string
	host := &pdktest.Host{Functions: map[string]func(string) string{"call_next": func(input string) string {
		sent = input
		return `{"response":{"messages":[]}}`
	}}}
	in := `{"hook":"process","layer":"chat","data":{"start":1,"count":4,"text":"Ada likes tea."},"request":{"count":COUNT}}`
	host.Call(t, process, strings.ReplaceAll(in, "COUNT", "8"))
	if !strings.Contains(sent, `"splice":[{"start":1,"delete":4,`) || !strings.Contains(sent, "Ada likes tea.") {
		t.Error(sent)
	}
	host.Call(t, process, strings.ReplaceAll(in, "COUNT", "4"))
	if sent != `{}` {
		t.Errorf("a request that is shorter is left alone: %s", sent)
	}
	host.Call(t, process, strings.ReplaceAll(in, `"count":COUNT`, `"count":8,"conversation_id":"c"`))
	if sent != `{}` {
		t.Errorf("the end of a conversation that a service keeps is left alone: %s", sent)
	}
}

// history is a host with n messages, every second of them the user's, and a model that says what it was told.
func history(n int, roles func(i int) string) (*pdktest.Host, *[]string) {
	var asked []string
	return &pdktest.Host{Functions: map[string]func(string) string{
		"get_messages": func(input string) string {
			asked = append(asked, input)
			var all []string
			for i := 6; i < n; i++ {
				all = append(all, `{"role":"`+roles(i)+`","text":"message `+string(rune('a'+i))+`"}`)
			}
			return `{"ranges":[{"start":6,"total":` + "30" + `,"messages":[` + strings.Join(all[:min(len(all), 11)], ",") + `]}]}`
		},
		"complete": func(input string) string {
			asked = append(asked, input)
			return `{"response":{"messages":[{"role":"assistant","text":" The new summary. "}]}}`
		},
	}}, &asked
}

func turns(i int) string {
	if i%2 == 0 {
		return "user"
	}
	return "assistant"
}

const after = `{"hook":"after_run","config":{"keep":4,"every":4},"state":{"summary":"Old.","covered":6},"context":[{"source_id":"in_memory","count":COUNT}]}`

func TestTheSummaryIsBroughtUpToDate(t *testing.T) {
	host, asked := history(20, turns)
	out := host.Call(t, afterRun, strings.ReplaceAll(after, "COUNT", "20"))
	if out != `{"state":{"summary":"The new summary.","covered":16}}` {
		t.Error(out)
	}
	if len(*asked) != 2 || !strings.Contains((*asked)[0], `"start":6,"count":11`) ||
		!strings.Contains((*asked)[1], `Summary so far:\nOld.`) || strings.Contains((*asked)[1], "message q") {
		t.Error(*asked)
	}
	host, asked = history(13, turns)
	if out := host.Call(t, afterRun, strings.ReplaceAll(after, "COUNT", "13")); out != `{}` || len(*asked) != 0 {
		t.Errorf("too little is new: %s, %v", out, *asked)
	}
}

func TestCallsAreNotPartedFromTheirResults(t *testing.T) {
	host, _ := history(20, func(i int) string {
		if i > 12 {
			return "tool"
		}
		return turns(i)
	})
	if out := host.Call(t, afterRun, strings.ReplaceAll(after, "COUNT", "20")); !strings.Contains(out, `"covered":12`) {
		t.Error(out)
	}
}

func TestAModelThatFailsLeavesTheSummary(t *testing.T) {
	host, _ := history(20, turns)
	host.Functions["complete"] = func(string) string { return `{"error":{"code":"model","message":"down"}}` }
	if out := host.Call(t, afterRun, strings.ReplaceAll(after, "COUNT", "20")); out != `{}` {
		t.Error(out)
	}
}
