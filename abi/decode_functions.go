package abi

import (
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/internal/strictjson"
	"github.com/weft-run/weft/message"
)

// The decoders of this file read what a plugin gives to a host function, as strictly as [DecodeOut] reads effects
// (clause HF-2). They put in what stands for an absent member. Members that no version of the contract names are passed
// over; unknown is how many there were. Every error is an [*OutputError].

// Bounds of what the functions take.
const (
	maxRanges    = 256
	maxSplices   = 256
	maxUpdates   = 64
	maxTexts     = 256
	maxDocuments = 256
	maxIDs       = 1_000
	maxHits      = 50
	maxPage      = 1_000
	maxTTL       = 100 * 365 * 24 * 60 * 60 // seconds
	maxWait      = 24 * 60 * 60 * 1_000     // milliseconds
)

// DecodeGetMessages reads the input of get_messages.
func DecodeGetMessages(data []byte) (in *GetMessages, unknown int, err error) {
	in = &GetMessages{}
	unknown, err = decodeInput(data, []string{"ranges"}, func(dec *jsontext.Decoder, unknown *int) members {
		return members{"ranges": func() error {
			return bounded(dec, "ranges", maxRanges, &in.Ranges, func() (Range, error) { return readRange(dec, unknown) })
		}}
	})
	return in, unknown, err
}

func readRange(dec *jsontext.Decoder, unknown *int) (Range, error) {
	r := Range{Part: "context"}
	err := readMembers(dec, unknown, nil, members{
		"part":      word(dec, "part", MessageParts, &r.Part),
		"source_id": text(dec, &r.SourceID),
		"start":     whole(dec, &r.Start),
		"count": func() error {
			r.Count = new(int)
			return between(dec, "count", 0, anyNumber, r.Count)()
		},
	})
	if err == nil && r.SourceID != "" && r.Part != "context" {
		err = strictjson.Faultf(dec, `"source_id" belongs to the part context, and the part is %s`, r.Part)
	}
	return r, err
}

// DecodeKVGet reads the input of kv_get.
func DecodeKVGet(data []byte) (in *KVGet, unknown int, err error) {
	in = &KVGet{}
	unknown, err = decodeInput(data, []string{"scope", "key"}, func(dec *jsontext.Decoder, _ *int) members {
		return members{"scope": word(dec, "scope", Scopes, &in.Scope), "key": text(dec, &in.Key)}
	})
	return in, unknown, err
}

// DecodeKVSet reads the input of kv_set.
func DecodeKVSet(data []byte) (in *KVSet, unknown int, err error) {
	in = &KVSet{}
	unknown, err = decodeInput(data, []string{"scope", "key", "value"}, func(dec *jsontext.Decoder, _ *int) members {
		return members{
			"scope": word(dec, "scope", Scopes, &in.Scope), "key": text(dec, &in.Key), "value": raw(dec, &in.Value),
			"if_version": version(dec, 0, &in.IfVersion), "ttl": between(dec, "ttl", 1, maxTTL, &in.TTL),
		}
	})
	return in, unknown, err
}

// DecodeKVDelete reads the input of kv_delete.
func DecodeKVDelete(data []byte) (in *KVDelete, unknown int, err error) {
	in = &KVDelete{}
	unknown, err = decodeInput(data, []string{"scope", "key"}, func(dec *jsontext.Decoder, _ *int) members {
		return members{
			"scope": word(dec, "scope", Scopes, &in.Scope), "key": text(dec, &in.Key), "if_version": version(dec, 1, &in.IfVersion),
		}
	})
	return in, unknown, err
}

// DecodeKVList reads the input of kv_list.
func DecodeKVList(data []byte) (in *KVList, unknown int, err error) {
	in = &KVList{Limit: 100}
	unknown, err = decodeInput(data, []string{"scope"}, func(dec *jsontext.Decoder, _ *int) members {
		return members{
			"scope": word(dec, "scope", Scopes, &in.Scope), "prefix": text(dec, &in.Prefix), "after": text(dec, &in.After),
			"limit": between(dec, "limit", 1, maxPage, &in.Limit), "values": boolean(dec, &in.Values),
		}
	})
	return in, unknown, err
}

// DecodeComplete reads the input of complete. Options of a model call that are the host's alone are an error.
func DecodeComplete(data []byte) (in *Complete, unknown int, err error) {
	in = &Complete{}
	messages := message.Decoder{RefuseUnknownKinds: true}
	unknown, err = decodeInput(data, []string{"messages"}, func(dec *jsontext.Decoder, unknown *int) members {
		return members{
			"messages": func() (err error) {
				in.Messages, err = messages.List(dec)
				return err
			},
			"instructions": text(dec, &in.Instructions),
			"options":      func() error { return in.Options.read(dec, unknown) },
		}
	})
	if err == nil && len(in.Messages) == 0 {
		err = &OutputError{Pointer: "/messages", Reason: "there are no messages; at least one was wanted"}
	}
	return in, unknown + messages.Unknown, err
}

// hostOptions are options of a model call that complete does not take.
var hostOptions = []string{"model", "instructions", "conversation_id", "store", "tools", "tool_choice"}

func (o *CompleteOptions) read(dec *jsontext.Decoder, unknown *int) error {
	known := members{
		"temperature": number(dec, &o.Temperature), "top_p": number(dec, &o.TopP),
		"max_tokens": func() error {
			o.MaxTokens = new(int)
			return between(dec, "max_tokens", 1, anyNumber, o.MaxTokens)()
		},
		"seed": func() error {
			o.Seed = new(int)
			return whole(dec, o.Seed)()
		},
		"stop": func() (err error) {
			o.Stop, err = strictjson.Strings(dec)
			return err
		},
		"response_format": func() error {
			o.ResponseFormat = &ResponseFormat{}
			return o.ResponseFormat.read(dec, unknown)
		},
	}
	for _, name := range hostOptions {
		known[name] = func() error {
			return strictjson.Faultf(dec, "the option %s is the host's; complete takes temperature, top_p, max_tokens, seed, stop, response_format", name)
		}
	}
	return readMembers(dec, unknown, nil, known)
}

var formatName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func (f *ResponseFormat) read(dec *jsontext.Decoder, unknown *int) error {
	err := readMembers(dec, unknown, []string{"name"}, members{
		"name": text(dec, &f.Name), "description": text(dec, &f.Description), "strict": boolean(dec, &f.Strict),
		"schema": func() (err error) {
			f.Schema, err = strictjson.RawObject(dec)
			return err
		},
	})
	if err == nil && !formatName.MatchString(f.Name) {
		err = strictjson.Faultf(dec, "name %q is not 1 to 64 letters, digits, - and _", f.Name)
	}
	return err
}

// DecodeEmbed reads the input of embed.
func DecodeEmbed(data []byte) (in *Embed, unknown int, err error) {
	in = &Embed{}
	unknown, err = decodeInput(data, []string{"texts"}, func(dec *jsontext.Decoder, _ *int) members {
		return members{"texts": texts(dec, "texts", maxTexts, &in.Texts)}
	})
	return in, unknown, err
}

// DecodeSearch reads the input of search.
func DecodeSearch(data []byte) (in *Search, unknown int, err error) {
	in = &Search{Limit: 5}
	unknown, err = decodeInput(data, []string{"index", "query"}, func(dec *jsontext.Decoder, _ *int) members {
		return members{
			"index": text(dec, &in.Index), "query": text(dec, &in.Query), "limit": between(dec, "limit", 1, maxHits, &in.Limit),
		}
	})
	return in, unknown, err
}

// DecodeIndexPut reads the input of index_put.
func DecodeIndexPut(data []byte) (in *IndexPut, unknown int, err error) {
	in = &IndexPut{}
	unknown, err = decodeInput(data, []string{"index", "documents"}, func(dec *jsontext.Decoder, unknown *int) members {
		return members{
			"index": text(dec, &in.Index),
			"documents": func() error {
				return bounded(dec, "documents", maxDocuments, &in.Documents, func() (Document, error) { return readDocument(dec, unknown) })
			},
		}
	})
	return in, unknown, err
}

func readDocument(dec *jsontext.Decoder, unknown *int) (d Document, err error) {
	err = readMembers(dec, unknown, []string{"id", "text"}, members{
		"id": text(dec, &d.ID), "text": text(dec, &d.Text), "title": text(dec, &d.Title), "url": text(dec, &d.URL),
		"metadata": func() (err error) {
			d.Metadata, err = strictjson.RawObject(dec)
			return err
		},
	})
	return d, err
}

// DecodeIndexDelete reads the input of index_delete.
func DecodeIndexDelete(data []byte) (in *IndexDelete, unknown int, err error) {
	in = &IndexDelete{}
	unknown, err = decodeInput(data, []string{"index", "ids"}, func(dec *jsontext.Decoder, _ *int) members {
		return members{"index": text(dec, &in.Index), "ids": texts(dec, "ids", maxIDs, &in.IDs)}
	})
	return in, unknown, err
}

// DecodeEmit reads the input of emit.
func DecodeEmit(data []byte) (in *Emit, unknown int, err error) {
	in = &Emit{}
	unknown, err = decodeInput(data, []string{"name"}, func(dec *jsontext.Decoder, _ *int) members {
		return members{"name": eventName(dec, &in.Name), "data": raw(dec, &in.Data)}
	})
	return in, unknown, err
}

// DecodeEventRequest reads the input of request.
func DecodeEventRequest(data []byte) (in *EventRequest, unknown int, err error) {
	in = &EventRequest{}
	unknown, err = decodeInput(data, []string{"name"}, func(dec *jsontext.Decoder, _ *int) members {
		return members{
			"name": eventName(dec, &in.Name), "data": raw(dec, &in.Data), "wait_ms": between(dec, "wait_ms", 1, maxWait, &in.WaitMS),
		}
	})
	return in, unknown, err
}

// hostEvents are names of events that the host tells by itself.
var hostEvents = []string{"provider_skipped", "middleware_skipped"}

var eventForm = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

func eventName(dec *jsontext.Decoder, into *string) func() error {
	return func() error {
		err := text(dec, into)()
		switch {
		case err != nil:
		case !eventForm.MatchString(*into):
			err = strictjson.Faultf(dec, "name %q is not 1 to 64 letters, digits, _, . and -", *into)
		case slices.Contains(hostEvents, *into):
			err = strictjson.Faultf(dec, "name %q is that of an event of the host's own: give it another", *into)
		case strings.HasPrefix(*into, "weft."):
			err = strictjson.Faultf(dec, `name %q begins with "weft.", as the host's own events do: give it another`, *into)
		}
		return err
	}
}
