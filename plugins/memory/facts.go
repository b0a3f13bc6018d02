package main

import (
	"cmp"
	"errors"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

// fact is what is known of a user. There is no list of facts that two runs could race for: the keys are the list.
type fact struct {
	// Key is where it is stored, and its id in the index.
	Key string
	// At is when it was stored, in UTC (RFC 3339), and RunID in which run.
	Text, At, RunID string
	// Vector is nil where the plugin may not embed.
	Vector vector
}

// now is the clock; tests set it.
var now = time.Now

func (c *config) prefix() string { return "fact/" + c.User + "/" }

// key is the same for texts that differ in nothing but case, spaces and the stop at the end: of runs that learn the same at
// the same time, one stores it.
func (c *config) key(text string) string {
	h := fnv.New64a()
	h.Write([]byte(plain(text)))
	id := strconv.FormatUint(h.Sum64(), 16)
	return c.prefix() + strings.Repeat("0", 16-len(id)) + id
}

func plain(text string) string {
	return strings.TrimRight(strings.ToLower(strings.Join(strings.Fields(text), " ")), ".! ")
}

func store() pdk.Store { return pdk.KV(pdk.ScopeAgent) }

// facts are all of the user's, oldest first.
func (c *config) facts() ([]fact, error) {
	var all []fact
	for entry, err := range store().All(c.prefix()) {
		if err != nil {
			return nil, err
		}
		f := fact{Key: entry.Key}
		if err := json.Unmarshal(entry.Value, &f); err != nil {
			pdk.LogWarn("the fact " + entry.Key + " cannot be read: " + err.Error())
			continue
		}
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b fact) int { return cmp.Or(strings.Compare(a.At, b.At), strings.Compare(a.Key, b.Key)) })
	return all, nil
}

// remember stores what is new of the texts.
func (c *config) remember(texts []string, runID string) error {
	if len(texts) == 0 {
		return nil
	}
	known, err := c.facts()
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for i := range known {
		seen[known[i].Key] = true
	}
	at := now().UTC().Format(time.RFC3339)
	var fresh []fact
	for _, text := range texts {
		if key := c.key(text); !seen[key] {
			seen[key] = true
			fresh = append(fresh, fact{Key: key, Text: text, At: at, RunID: runID})
		}
	}
	if fresh, err = c.distinct(known, fresh); err != nil || len(fresh) == 0 {
		return err
	}
	if err := c.keep(fresh); err != nil {
		return err
	}
	all := append(known, fresh...)
	if err := c.drop(all[:max(0, len(all)-c.MaxFacts)]); err != nil {
		pdk.LogWarn("the oldest facts cannot be deleted: " + err.Error())
	}
	return nil
}

// keep stores facts, first in the index: what only the index has is never shown, while what only the storage has would
// never be found, nor learned again.
func (c *config) keep(fresh []fact) error {
	if c.Find == findSearch {
		documents := make([]pdk.Document, len(fresh))
		for i := range fresh {
			documents[i] = pdk.Document{ID: fresh[i].Key, Text: fresh[i].Text}
		}
		if err := pdk.IndexPut(c.Index, documents...); err != nil {
			return err
		}
	}
	for i := range fresh {
		_, err := store().SetIf(fresh[i].Key, json.Marshal(&fresh[i]), 0)
		if e, ok := errors.AsType[*pdk.Error](err); ok && e.Code == pdk.CodeConflict {
			continue // another run has just learned the same
		}
		if err != nil {
			return errors.Join(err, c.unindex(fresh[i:]))
		}
	}
	return nil
}

// drop deletes facts.
func (c *config) drop(facts []fact) error {
	for i := range facts {
		if _, err := store().Delete(facts[i].Key); err != nil {
			return errors.Join(err, c.unindex(facts[:i]))
		}
	}
	return c.unindex(facts)
}

func (c *config) unindex(facts []fact) error {
	if c.Find != findSearch || len(facts) == 0 {
		return nil
	}
	keys := make([]string, len(facts))
	for i := range facts {
		keys[i] = facts[i].Key
	}
	_, err := pdk.IndexDelete(c.Index, keys...)
	return err
}

// ReadJSON reads a fact.
func (f *fact) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "text":
			f.Text = r.String()
		case "at":
			f.At = r.String()
		case "run_id":
			f.RunID = r.String()
		case "vector":
			f.Vector.ReadJSON(r)
		}
	}
}

// WriteJSON writes a fact.
func (f *fact) WriteJSON(w *json.Writer) {
	w.Object(func() {
		w.Name("text").String(f.Text)
		w.Name("at").String(f.At)
		w.Name("run_id").String(f.RunID)
		if f.Vector != nil {
			w.Name("vector").Value(f.Vector)
		}
	})
}
