// Command go-extism is the guest that all languages have, written with Extism's PDK for Go and encoding/json: before_run
// counts the words of a run's input, noop does nothing, and echo gives back what it gets.
package main

import (
	"strconv"

	"github.com/extism/go-pdk"
)

type run struct {
	Config struct {
		Language string `json:"language"`
		Long     int    `json:"long"`
	} `json:"config"`
	Run struct {
		SessionID string `json:"session_id"`
	} `json:"run"`
	State state `json:"state"`
	Input []struct {
		Contents []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"contents"`
	} `json:"input"`
	Metadata struct {
		TraceID string `json:"trace_id"`
	} `json:"metadata"`
}

type state struct {
	Runs  int `json:"runs"`
	Words int `json:"words"`
}

type effects struct {
	ExtendMessages     []message `json:"extend_messages"`
	ExtendInstructions []string  `json:"extend_instructions"`
	State              state     `json:"state"`
	Metadata           metadata  `json:"metadata"`
}

type message struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

type metadata struct {
	Language  string `json:"language"`
	SessionID string `json:"session_id"`
	TraceID   string `json:"trace_id"`
	Words     int    `json:"words"`
}

//go:wasmexport before_run
func beforeRun() int32 {
	var in run
	if err := pdk.InputJSON(&in); err != nil {
		pdk.SetError(err)
		return 1
	}
	words := 0
	for _, m := range in.Input {
		for _, c := range m.Contents {
			if c.Type == "text" {
				words += countWords(c.Text)
			}
		}
	}
	total := in.State.Words + words
	out := effects{
		ExtendMessages: []message{{"user", "This message has " + strconv.Itoa(words) + " words, and the conversation has " +
			strconv.Itoa(total) + " so far."}},
		ExtendInstructions: []string{"Answer what was asked, one thing after the other, in the language of the question."},
		State:              state{Runs: in.State.Runs + 1, Words: total},
		Metadata:           metadata{in.Config.Language, in.Run.SessionID, in.Metadata.TraceID, words},
	}
	if words > in.Config.Long {
		out.ExtendInstructions = append(out.ExtendInstructions, "Keep the answer shorter than the question.")
	}
	if err := pdk.OutputJSON(out); err != nil {
		pdk.SetError(err)
		return 1
	}
	return 0
}

// countWords counts what stands between white space.
func countWords(text string) int {
	words := 0
	inside := false
	for i := range len(text) {
		space := text[i] == ' ' || text[i] >= '\t' && text[i] <= '\r'
		if !space && !inside {
			words++
		}
		inside = !space
	}
	return words
}

//go:wasmexport noop
func noop() int32 { return 0 }

//go:wasmexport echo
func echo() int32 {
	pdk.Output(pdk.Input())
	return 0
}

func main() {}
