package pdktest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/weft-run/weft/pdk/go"
)

// KV returns the functions kv_get, kv_set, kv_delete and kv_list over a memory of their own, which is empty at first:
//
//	host := pdktest.Host{Functions: pdktest.KV()}
//
// Values do not expire in it, and nothing is too large.
func KV() map[string]func(input string) string {
	m := &memory{scopes: map[string]map[string]stored{}}
	functions := map[string]func(string) string{}
	for name, f := range map[string]func(kvInput) map[string]any{
		"kv_get": m.get, "kv_set": m.set, "kv_delete": m.remove, "kv_list": m.list,
	} {
		functions[name] = func(input string) string {
			in := kvInput{Limit: 100}
			if err := json.Unmarshal([]byte(input), &in); err != nil {
				return failure(pdk.CodeInvalidInput, name+": "+err.Error())
			}
			if m.scopes[in.Scope] == nil {
				m.scopes[in.Scope] = map[string]stored{}
			}
			if in.IfVersion != nil && *in.IfVersion != m.scopes[in.Scope][in.Key].version {
				return failure(pdk.CodeConflict, name+": "+in.Key+" has another version")
			}
			text, _ := json.Marshal(f(in)) // what went in was JSON
			return string(text)
		}
	}
	return functions
}

type memory struct {
	scopes map[string]map[string]stored
	last   int // version
}

type stored struct {
	value   json.RawMessage
	version int
}

type kvInput struct {
	Scope, Key, Prefix, After string
	Value                     json.RawMessage
	IfVersion                 *int `json:"if_version"`
	Limit                     int
	Values                    bool
}

func (m *memory) get(in kvInput) map[string]any {
	s, found := m.scopes[in.Scope][in.Key]
	if !found {
		return map[string]any{"found": false}
	}
	return map[string]any{"found": true, "value": s.value, "version": s.version}
}

func (m *memory) set(in kvInput) map[string]any {
	m.last++
	m.scopes[in.Scope][in.Key] = stored{in.Value, m.last}
	return map[string]any{"version": m.last}
}

func (m *memory) remove(in kvInput) map[string]any {
	_, found := m.scopes[in.Scope][in.Key]
	delete(m.scopes[in.Scope], in.Key)
	return map[string]any{"deleted": found}
}

func (m *memory) list(in kvInput) map[string]any {
	var keys []string
	for key := range m.scopes[in.Scope] {
		if strings.HasPrefix(key, in.Prefix) && key > in.After {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	more := len(keys) > in.Limit
	entries := []map[string]any{}
	for _, key := range keys[:min(len(keys), in.Limit)] {
		s := m.scopes[in.Scope][key]
		entry := map[string]any{"key": key, "version": s.version}
		if in.Values {
			entry["value"] = s.value
		}
		entries = append(entries, entry)
	}
	return map[string]any{"entries": entries, "more": more}
}
