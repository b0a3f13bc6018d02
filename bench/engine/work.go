package main

import (
	_ "embed"
	"encoding/json"
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"
)

// input is what before_run is given: what a host writes for a run of one message, 2.1 KB of it, 1.7 KB the message's text.
//
//go:embed testdata/input.json
var input []byte

// What before_run reads. Each guest reads the same, in its own language.
type runIn struct {
	Config struct {
		Language string `json:"language"`
		Long     int    `json:"long"`
	} `json:"config"`
	Run struct {
		SessionID string `json:"session_id"`
	} `json:"run"`
	State runState `json:"state"`
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

type runState struct {
	Runs  int `json:"runs"`
	Words int `json:"words"`
}

// What before_run writes.
type runOut struct {
	ExtendMessages     []runMessage `json:"extend_messages"`
	ExtendInstructions []string     `json:"extend_instructions"`
	State              runState     `json:"state"`
	Metadata           runMetadata  `json:"metadata"`
}

type runMessage struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

type runMetadata struct {
	Language  string `json:"language"`
	SessionID string `json:"session_id"`
	TraceID   string `json:"trace_id"`
	Words     int    `json:"words"`
}

// beforeRun is the work natively, with encoding/json at both ends: what all ratios are to. The subprocesses do the same.
func beforeRun(input []byte) ([]byte, error) {
	var in runIn
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	return json.Marshal(count(&in))
}

// beforeRunV2 is the same with the JSON library that Weft itself uses.
func beforeRunV2(input []byte) ([]byte, error) {
	var in runIn
	if err := jsonv2.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	return jsonv2.Marshal(count(&in))
}

func count(in *runIn) *runOut {
	words := 0
	for _, m := range in.Input {
		for _, c := range m.Contents {
			if c.Type == "text" {
				words += countWords(c.Text)
			}
		}
	}
	total := in.State.Words + words
	out := &runOut{
		ExtendMessages: []runMessage{{"user", fmt.Sprintf(
			"This message has %d words, and the conversation has %d so far.", words, total)}},
		ExtendInstructions: []string{"Answer what was asked, one thing after the other, in the language of the question."},
		State:              runState{Runs: in.State.Runs + 1, Words: total},
		Metadata:           runMetadata{in.Config.Language, in.Run.SessionID, in.Metadata.TraceID, words},
	}
	if words > in.Config.Long {
		out.ExtendInstructions = append(out.ExtendInstructions, "Keep the answer shorter than the question.")
	}
	return out
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
