package main

import (
	"errors"
	"os"
	"strings"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

// messages fetches of all that there is.
func messages(in *pdk.In) error {
	for _, s := range in.Context() {
		last := ""
		if one := s.Last(1); len(one) > 0 {
			last = one[0].Text()
		}
		tell("context", s.SourceID, s.Count, len(s.Messages()), last)
	}
	pages, err := pdk.GetMessages(pdk.Range{Part: pdk.PartInput}, pdk.Range{Start: 1, Count: 1}, pdk.Range{SourceID: "in_memory", Start: -9})
	if err != nil {
		return err
	}
	for _, p := range pages {
		tell("page", len(p.Messages), p.Start, p.Total)
	}
	_, err = pdk.GetMessages(pdk.Range{Part: pdk.PartResponse})
	tell("response before the run", codeOf(err))
	_, err = pdk.GetMessages(pdk.Range{SourceID: "secret"})
	tell("messages of another", codeOf(err))
	return nil
}

func codeOf(err error) string {
	if coded, ok := errors.AsType[*pdk.Error](err); ok {
		return string(coded.Code)
	}
	return "no code"
}

// storage writes, reads, lists and removes.
func storage(*pdk.In) error {
	kv := pdk.KV(pdk.ScopeSession)
	first, err := kv.SetIf("a/1", `{"n":1}`, 0)
	if err != nil {
		return err
	}
	_, conflict := kv.SetIf("a/1", `{"n":2}`, first+7)
	second, err := kv.Expiring(60).Set("a/1", `{"n":3}`)
	if err != nil {
		return err
	}
	entry, found, err := kv.Get("a/1")
	if err != nil {
		return err
	}
	tell("kv", codeOf(conflict), second > first, found, entry.Value, entry.Version == second)
	if _, err := kv.Set("a/2", json.String("two")); err != nil {
		return err
	}
	for e, err := range kv.All("a/") {
		if err != nil {
			return err
		}
		tell("kv all", e.Key, e.Value)
	}
	entries, more, err := kv.List(pdk.List{Limit: 1})
	if err != nil {
		return err
	}
	_, elsewhere, err := pdk.KV(pdk.ScopeAgent).Get("a/1")
	if err != nil {
		return err
	}
	deleted, err := kv.Delete("a/1")
	if err != nil {
		return err
	}
	again, err := kv.Delete("a/1")
	tell("kv list", len(entries), more, elsewhere, deleted, again)
	return err
}

// model asks the host's models, and once too often.
func model(*pdk.In) error {
	r, err := pdk.Complete(pdk.Completion{Messages: []pdk.Message{pdk.User("and you?")}, Instructions: "be brief", Options: `{"max_tokens":7}`})
	if err != nil {
		return err
	}
	_, beyond := pdk.Complete(pdk.Completion{Messages: []pdk.Message{pdk.User("again")}})
	vectors, err := pdk.Embed("a", "bcd")
	if err != nil {
		return err
	}
	tell("model", r.Text(), r.Usage.InputTokens, codeOf(beyond), len(vectors), float64(vectors[1][0]), float64(vectors[1][1]))
	return nil
}

// documents puts, finds and removes.
func documents(*pdk.In) error {
	err := pdk.IndexPut("docs",
		pdk.Document{ID: "warp", Title: "Warp", Text: "The warp is held in tension.", URL: "https://example.com/warp", Metadata: `{"n":1}`},
		pdk.Document{ID: "dye", Text: "Madder makes red."})
	if err != nil {
		return err
	}
	hits, err := pdk.Search("docs", "what holds the warp", 1)
	if err != nil {
		return err
	}
	deleted, err := pdk.IndexDelete("docs", "warp", "none")
	if err != nil {
		return err
	}
	h := hits[0]
	_, denied := pdk.Search("wiki", "x", 0)
	tell("index", len(hits), h.ID, h.Title, h.Text, h.URL, h.Metadata, h.Score > 0, deleted, codeOf(denied))
	return nil
}

// events tells the caller something, and asks.
func events(*pdk.In) error {
	if err := pdk.Emit("progress", `{"done":0.5}`); err != nil {
		return err
	}
	answer, answered, err := pdk.Request("sure", json.String("really?"), 60_000)
	if err != nil {
		return err
	}
	_, late, err := pdk.Request("nobody", "", 1)
	tell("events", answered, answer, late)
	return err
}

// notes writes into a folder, and reads what it wrote.
func notes(*pdk.In) error {
	const path = "/notes/runs.txt"
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString("run\n")
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	tell("notes", strings.Fields(string(text)), os.WriteFile("/runs.txt", text, 0o600) != nil)
	return err
}

// request sends one to the server that the configuration names.
func request(in *pdk.In) error {
	var c config
	if err := in.ReadConfig(&c); err != nil {
		return err
	}
	r, err := pdk.HTTP(pdk.HTTPRequest{
		Method: "POST", URL: c.URL + "/v1/echo", Body: []byte("the body"), Headers: map[string]string{"Authorization": "Bearer {{secret.KEY}}"},
	})
	if err != nil {
		return err
	}
	tell("http", r.Status, r.Headers["x-kind"], r.Body)
	return nil
}

type config struct{ URL string }

func (c *config) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		if name == "url" {
			c.URL = r.String()
		}
	}
}
