package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pdk/go/pdktest"
)

// world is a host with storage, an index that finds by whole words, vectors of two letters' counts, and a model that gives
// one answer.
type world struct {
	host    *pdktest.Host
	answer  string
	indexed map[string]string
	asked   int
}

func newWorld(t *testing.T, answer string) *world {
	t.Helper()
	clock := time.Date(2026, 11, 21, 10, 42, 0, 0, time.UTC)
	now = func() time.Time { clock = clock.Add(time.Second); return clock }
	t.Cleanup(func() { now = time.Now })
	w := &world{host: &pdktest.Host{Functions: pdktest.KV()}, answer: answer, indexed: map[string]string{}}
	w.host.Functions["complete"] = func(string) string {
		w.asked++
		return text(map[string]any{"response": map[string]any{"messages": []any{map[string]any{"role": "assistant", "text": w.answer}}}})
	}
	w.host.Functions["index_put"], w.host.Functions["index_delete"] = w.put, w.remove
	w.host.Functions["search"], w.host.Functions["embed"] = w.search, embedding
	return w
}

func (w *world) put(input string) string {
	var in struct{ Documents []struct{ ID, Text string } }
	parse(input, &in)
	for _, d := range in.Documents {
		w.indexed[d.ID] = d.Text
	}
	return `{}`
}

func (w *world) remove(input string) string {
	var in struct{ IDs []string }
	parse(input, &in)
	for _, id := range in.IDs {
		delete(w.indexed, id)
	}
	return `{"deleted":1}`
}

func (w *world) search(input string) string {
	var in struct{ Query string }
	parse(input, &in)
	hits := []any{}
	for id, document := range w.indexed {
		n := 0
		for word := range words(in.Query) {
			if words(document)[word] {
				n++
			}
		}
		if n > 0 {
			hits = append(hits, map[string]any{"id": id, "score": n, "text": "not this text: " + document})
		}
	}
	slices.SortFunc(hits, func(a, b any) int { return b.(map[string]any)["score"].(int) - a.(map[string]any)["score"].(int) })
	return text(map[string]any{"hits": hits})
}

// embedding is how often a, e, o, s and t are in each text.
func embedding(input string) string {
	var in struct{ Texts []string }
	parse(input, &in)
	vectors := [][]float64{}
	for _, t := range in.Texts {
		var v []float64
		for _, letter := range []string{"a", "e", "o", "s", "t"} {
			v = append(v, float64(strings.Count(strings.ToLower(t), letter))/7)
		}
		vectors = append(vectors, v)
	}
	return text(map[string]any{"vectors": vectors})
}

func parse(input string, v any) {
	if err := json.Unmarshal([]byte(input), v); err != nil {
		panic(err)
	}
}

func text(v any) string {
	out, _ := json.Marshal(v)
	return string(out)
}

// tell is after_run of a run in which the user said something.
func (w *world) tell(run, config string) pdktest.Result {
	return w.host.Run(afterRun, `{"hook":"after_run","run":{"run_id":"`+run+`"},"config":`+config+
		`,"input":[{"role":"user","text":"I am Ada."}],"response":{"messages":[{"role":"assistant","text":"Hello."}]}}`)
}

// added is what before_run adds for a question.
func (w *world) added(t *testing.T, question, config string) string {
	t.Helper()
	var out struct {
		Messages []struct{ Role, Text string } `json:"extend_messages"`
	}
	parse(w.host.Call(t, beforeRun, `{"hook":"before_run","config":`+config+`,"input":[{"role":"user","text":`+text(question)+`}]}`), &out)
	if len(out.Messages) == 0 {
		return ""
	}
	if len(out.Messages) > 1 || out.Messages[0].Role != "user" {
		t.Errorf("one message of role user was wanted: %v", out.Messages)
	}
	return out.Messages[0].Text
}

// stored are the texts of the facts, in the order of their keys.
func (w *world) stored() []string {
	var out []string
	var list struct {
		Entries []struct {
			Key   string
			Value struct{ Text string }
		}
	}
	parse(w.host.Functions["kv_list"](`{"scope":"agent","prefix":"fact/","values":true,"limit":1000}`), &list)
	for _, e := range list.Entries {
		out = append(out, e.Value.Text)
	}
	slices.Sort(out)
	return out
}
