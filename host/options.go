package host

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Options are what a caller may set for a model call. An unset option leaves the decision to who stands behind: the
// client's defaults, then the agent's options, then the run's, each going before the earlier key by key.
// Instructions are the exception: they are joined.
type Options struct {
	// Instructions are added behind those of the agent and its providers.
	Instructions string `json:"instructions,omitzero"`
	// ConversationID names a conversation whose history a service keeps.
	ConversationID string `json:"conversation_id,omitzero"`
	// Store says whether the service is to keep the history; nil leaves it to the service.
	Store *bool `json:"store,omitzero"`
	// Model overrides the client's model.
	Model       string   `json:"model,omitzero"`
	Temperature *float64 `json:"temperature,omitzero"`
	TopP        *float64 `json:"top_p,omitzero"`
	MaxTokens   *int     `json:"max_tokens,omitzero"`
	Seed        *int     `json:"seed,omitzero"`
	Stop        []string `json:"stop,omitzero"`
	// ToolChoice says whether the model may, must or must not call tools.
	ToolChoice ToolChoice `json:"tool_choice,omitzero"`
	// ResponseFormat asks for an answer that is JSON of a form (package structured also checks it).
	ResponseFormat *ResponseFormat `json:"response_format,omitzero"`
	// Extra are options that only some clients know, by name.
	Extra map[string]jsontext.Value `json:",embed"`
}

// ResponseFormat is the form that a model's answer is to have.
type ResponseFormat struct {
	// Name names the form for the model: letters, digits, - and _.
	Name        string `json:"name"`
	Description string `json:"description,omitzero"`
	// Schema is the JSON Schema of the answer; empty asks for any JSON object.
	Schema jsontext.Value `json:"schema,omitzero"`
	// Strict asks the service to hold the model to the schema while it writes, which some services do for a part of JSON
	// Schema only.
	Strict bool `json:"strict,omitzero"`
}

// ParseOptions reads options from a JSON object. An option of the wrong type is an error that names it.
func ParseOptions(object []byte) (Options, error) {
	var o Options
	if err := json.Unmarshal(object, &o); err != nil {
		return Options{}, fmt.Errorf("options: %w", err)
	}
	return o, nil
}

// JSON is the options as a JSON object: what is set, Extra among it, with sorted extra names.
func (o Options) JSON() (jsontext.Value, error) {
	raw, err := json.Marshal(o, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("options: %w", err)
	}
	return raw, nil
}

// Clone returns a copy that shares nothing with o.
func (o Options) Clone() Options {
	o.Store = clonePointer(o.Store)
	o.Temperature = clonePointer(o.Temperature)
	o.TopP = clonePointer(o.TopP)
	o.MaxTokens = clonePointer(o.MaxTokens)
	o.Seed = clonePointer(o.Seed)
	o.Stop = slices.Clone(o.Stop)
	if o.ResponseFormat != nil {
		format := *o.ResponseFormat
		format.Schema = format.Schema.Clone()
		o.ResponseFormat = &format
	}
	if o.Extra != nil {
		extra := make(map[string]jsontext.Value, len(o.Extra))
		for k, v := range o.Extra {
			extra[k] = v.Clone()
		}
		o.Extra = extra
	}
	return o
}

// With returns o with all that top sets put over it, key by key.
func (o Options) With(top Options) Options {
	out := o.over(top)
	if top.Instructions != "" {
		out.Instructions = top.Instructions
	}
	return out
}

// over returns o with all that top sets put over it. Instructions are left to the caller, who joins them.
func (o Options) over(top Options) Options {
	if top.ConversationID != "" {
		o.ConversationID = top.ConversationID
	}
	if top.Store != nil {
		o.Store = top.Store
	}
	if top.Model != "" {
		o.Model = top.Model
	}
	if top.Temperature != nil {
		o.Temperature = top.Temperature
	}
	if top.TopP != nil {
		o.TopP = top.TopP
	}
	if top.MaxTokens != nil {
		o.MaxTokens = top.MaxTokens
	}
	if top.Seed != nil {
		o.Seed = top.Seed
	}
	if top.Stop != nil {
		o.Stop = top.Stop
	}
	if top.ToolChoice != (ToolChoice{}) {
		o.ToolChoice = top.ToolChoice
	}
	if top.ResponseFormat != nil {
		o.ResponseFormat = top.ResponseFormat
	}
	if len(top.Extra) > 0 {
		extra := make(map[string]jsontext.Value, len(o.Extra)+len(top.Extra))
		maps.Copy(extra, o.Extra)
		maps.Copy(extra, top.Extra)
		o.Extra = extra
	}
	return o
}

func clonePointer[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}
