package abi

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/message"
)

// What the host functions take (clauses HF-3 to HF-15). Each type has a decoder; both sides may use the types to write JSON.

// GetMessages is the input of get_messages (clause HF-3).
type GetMessages struct {
	Ranges []Range `json:"ranges"`
}

// Range is a part of a list of messages.
type Range struct {
	// Part is one of [MessageParts]; absent means the context.
	Part string `json:"part,omitzero"`
	// SourceID is the source whose messages of the context are meant; absent means all that may be read.
	SourceID string `json:"source_id,omitzero"`
	// Start is the first message; below 0 it counts from the end.
	Start int `json:"start,omitzero"`
	// Count is how many messages; nil means all that follow.
	Count *int `json:"count,omitzero"`
}

// MessageParts are the parts of a run that hold messages.
var MessageParts = []string{"context", "input", "request", "response"}

// KVGet is the input of kv_get (clause HF-4).
type KVGet struct {
	// Scope is one of [Scopes].
	Scope string `json:"scope"`
	Key   string `json:"key"`
}

// KVSet is the input of kv_set (clause HF-5).
type KVSet struct {
	Scope string         `json:"scope"`
	Key   string         `json:"key"`
	Value jsontext.Value `json:"value"`
	// IfVersion is the version that the key must have, 0 for a key that must not exist; nil means whatever is there.
	IfVersion *int64 `json:"if_version,omitzero"`
	// TTL is after how many seconds the key is gone; 0 means never.
	TTL int `json:"ttl,omitzero"`
}

// KVDelete is the input of kv_delete (clause HF-6).
type KVDelete struct {
	Scope string `json:"scope"`
	Key   string `json:"key"`
	// IfVersion is the version that the key must have; nil means whatever is there.
	IfVersion *int64 `json:"if_version,omitzero"`
}

// KVList is the input of kv_list (clause HF-7).
type KVList struct {
	Scope  string `json:"scope"`
	Prefix string `json:"prefix,omitzero"`
	// After is the key behind which the list begins.
	After string `json:"after,omitzero"`
	// Limit is how many entries at most: 1 to 1,000, and 100 where it is absent.
	Limit int `json:"limit,omitzero"`
	// Values says whether entries come with their values.
	Values bool `json:"values,omitzero"`
}

// Complete is the input of complete (clause HF-9).
type Complete struct {
	Messages     []*message.Message `json:"messages"`
	Instructions string             `json:"instructions,omitzero"`
	Options      CompleteOptions    `json:"options,omitzero"`
}

// CompleteOptions are the options that complete takes; nil leaves one to the host.
type CompleteOptions struct {
	Temperature    *float64        `json:"temperature,omitzero"`
	TopP           *float64        `json:"top_p,omitzero"`
	MaxTokens      *int            `json:"max_tokens,omitzero"`
	Seed           *int            `json:"seed,omitzero"`
	Stop           []string        `json:"stop,omitzero"`
	ResponseFormat *ResponseFormat `json:"response_format,omitzero"`
}

// ResponseFormat asks for an answer that is JSON of a form.
type ResponseFormat struct {
	// Name names the form for the model: 1 to 64 letters, digits, - and _.
	Name        string `json:"name"`
	Description string `json:"description,omitzero"`
	// Schema is the JSON Schema of the answer; absent asks for any JSON object.
	Schema jsontext.Value `json:"schema,omitzero"`
	// Strict asks the service to hold the model to the schema while it writes.
	Strict bool `json:"strict,omitzero"`
}

// Embed is the input of embed (clause HF-10).
type Embed struct {
	// Texts are 1 to 256 texts.
	Texts []string `json:"texts"`
}

// Search is the input of search (clause HF-11).
type Search struct {
	Index string `json:"index"`
	Query string `json:"query"`
	// Limit is how many hits at most: 1 to 50, and 5 where it is absent.
	Limit int `json:"limit,omitzero"`
}

// IndexPut is the input of index_put (clause HF-12).
type IndexPut struct {
	Index string `json:"index"`
	// Documents are 1 to 256 documents.
	Documents []Document `json:"documents"`
}

// Document is what an index holds.
type Document struct {
	ID    string `json:"id"`
	Text  string `json:"text"`
	Title string `json:"title,omitzero"`
	URL   string `json:"url,omitzero"`
	// Metadata is an object of the plugin's own.
	Metadata jsontext.Value `json:"metadata,omitzero"`
}

// IndexDelete is the input of index_delete (clause HF-13).
type IndexDelete struct {
	Index string `json:"index"`
	// IDs are 1 to 1,000 ids of documents.
	IDs []string `json:"ids"`
}

// Emit is the input of emit (clause HF-14).
type Emit struct {
	// Name has 1 to 64 letters, digits, _, . and -. Names that begin with "weft." are the host's.
	Name string         `json:"name"`
	Data jsontext.Value `json:"data,omitzero"`
}

// EventRequest is the input of request (clause HF-15).
type EventRequest struct {
	Name string         `json:"name"`
	Data jsontext.Value `json:"data,omitzero"`
	// WaitMS is how many milliseconds an answer is waited for, at most a day; 0 means five minutes.
	WaitMS int `json:"wait_ms,omitzero"`
}
