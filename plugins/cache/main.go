// Command cache is a Weft plugin that answers a request that was made before from storage.
package main

import (
	_ "embed"
	"strconv"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

//go:embed config.schema.json
var configSchema string

//go:wasmexport describe
func describe() int32 {
	return pdk.Describe(pdk.Description{
		Name:         "cache",
		Version:      "0.1.0",
		Description:  "Answers a request that was made before from storage, without the model.",
		SourceID:     "cache",
		ConfigSchema: json.Raw(configSchema),
		Layers:       []pdk.Layer{pdk.LayerChat},
		Grants: pdk.Grants{
			Read:   []string{"request", "response", "options"},
			Change: []string{"result"},
			KV:     []pdk.Scope{pdk.ScopeAgent},
		},
	})
}

//go:wasmexport process
func process() int32 {
	return pdk.ProcessChat(func(c *pdk.ChatContext) error {
		conf := config{Scope: pdk.ScopeAgent, TTL: 86_400, MaxBytes: 32 << 10}
		if err := c.ReadConfig(&conf); err != nil {
			return err
		}
		if !conf.mayKeep(c) {
			return c.Next()
		}
		store, key := pdk.KV(conf.Scope).Expiring(conf.TTL), keyOf(c)
		var known answer
		version, err := store.Read(key, &known)
		if err != nil {
			pdk.LogWarn("the cache cannot be read, so the model is asked: " + err.Error())
		}
		if err == nil && version > 0 && len(known.Messages) > 0 {
			c.SetResponse(&pdk.Response{Messages: known.Messages, FinishReason: finishStop})
			return nil
		}
		if err := c.Next(); err != nil {
			return err
		}
		if given := c.Response(); worthKeeping(given) {
			text := json.Marshal(&answer{given.Messages})
			if len(text) > conf.MaxBytes {
				return nil
			}
			if _, err := store.Set(key, text); err != nil {
				pdk.LogWarn("the answer cannot be kept: " + err.Error())
			}
		}
		return nil
	})
}

const finishStop = "stop"

// config is the plugin's configuration; config.schema.json says the same to the host.
type config struct {
	Scope          pdk.Scope
	TTL            int
	MaxBytes       int
	AnyTemperature bool
}

// ReadJSON reads the configuration, which the host held against the schema.
func (c *config) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "scope":
			c.Scope = pdk.Scope(r.String())
		case "ttl":
			c.TTL = r.Int()
		case "max_bytes":
			c.MaxBytes = r.Int()
		case "any_temperature":
			c.AnyTemperature = r.Bool()
		}
	}
}

// mayKeep reports whether the same request is to have the same answer: not where the caller asked for variety, nor where a
// service keeps the conversation, of which the request is only the end.
func (c *config) mayKeep(call *pdk.ChatContext) bool {
	if call.Request().ConversationID != "" {
		return false
	}
	temperature := call.Option("temperature")
	if c.AnyTemperature || temperature == "" || temperature == "null" {
		return true
	}
	t, err := strconv.ParseFloat(string(temperature), 64)
	return err == nil && t == 0
}

// worthKeeping reports whether an answer is whole, and one for the user: calls of tools would be made again, with whatever
// they do.
func worthKeeping(r *pdk.Response) bool {
	if r == nil || len(r.Messages) == 0 || r.FinishReason != finishStop {
		return false
	}
	for i := range r.Messages {
		for _, content := range r.Messages[i].Contents {
			switch content.(type) {
			case pdk.Text, pdk.Reasoning:
			default:
				return false
			}
		}
	}
	return true
}

// answer is what is kept.
type answer struct{ Messages []pdk.Message }

// ReadJSON reads what was kept.
func (a *answer) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		if name == "messages" {
			for range r.Array() {
				var m pdk.Message
				m.ReadJSON(r)
				a.Messages = append(a.Messages, m)
			}
		}
	}
}

// WriteJSON writes what is to be kept.
func (a *answer) WriteJSON(w *json.Writer) {
	w.Object(func() {
		w.Name("messages").Array(func() {
			for i := range a.Messages {
				w.Value(&a.Messages[i])
			}
		})
	})
}

func main() {}
