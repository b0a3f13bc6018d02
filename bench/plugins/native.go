package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/schema"
	"github.com/weft-run/weft/message"
)

// nativeContext does what the guest context does.
type nativeContext string

var _ host.ContextProvider = nativeContext("")

// counters are its state.
type counters struct {
	Runs     int `json:"runs"`
	Words    int `json:"words"`
	Answered int `json:"answered"`
}

// SourceID is its name.
func (c nativeContext) SourceID() string { return string(c) }

// BeforeRun adds a message about the question, and counts.
func (c nativeContext) BeforeRun(_ context.Context, sc *host.SessionContext) error {
	words := wordsOf(sc.Input())
	sc.ExtendMessages(message.User(fmt.Sprintf("The question has %d words.", words)))
	return count(sc.State(), func(c *counters) {
		c.Runs++
		c.Words += words
	})
}

// AfterRun counts the answer.
func (c nativeContext) AfterRun(_ context.Context, sc *host.SessionContext) error {
	words := wordsOf(sc.Response().Messages)
	return count(sc.State(), func(c *counters) { c.Answered += words })
}

func count(state *host.State, change func(*counters)) error {
	raw, err := state.Raw()
	if err != nil {
		return err
	}
	var c counters
	if err := json.Unmarshal(raw, &c); err != nil {
		return err
	}
	change(&c)
	if raw, err = json.Marshal(c); err != nil {
		return err
	}
	return state.Replace(raw)
}

func wordsOf(messages []*message.Message) int {
	words := 0
	for _, m := range messages {
		for _, c := range m.Contents {
			if text, ok := c.(message.Text); ok {
				words += len(strings.Fields(text.Text))
			}
		}
	}
	return words
}

// nativeTools does what the guest tools does.
type nativeTools struct {
	id         string
	parameters host.Schema
}

var (
	_ host.BeforeRunHook = (*nativeTools)(nil)
	_ host.FunctionTool  = (*nativeTools)(nil)
)

func newNativeTools(id string) (*nativeTools, error) {
	parameters, err := schema.Parse([]byte(`{"type":"object","properties":{"key":{"type":"string"}},"required":["key"]}`))
	return &nativeTools{id, parameters}, err
}

// SourceID is its name.
func (t *nativeTools) SourceID() string { return t.id }

// BeforeRun adds the tool.
func (t *nativeTools) BeforeRun(_ context.Context, sc *host.SessionContext) error {
	sc.ExtendTools(t)
	return nil
}

// Definition is what the model is told.
func (t *nativeTools) Definition() host.ToolDefinition {
	return host.ToolDefinition{Name: toolName, Description: "Looks up the value of a key.", Parameters: t.parameters}
}

// Call looks up a key.
func (t *nativeTools) Call(_ context.Context, arguments jsontext.Value) (jsontext.Value, error) {
	var in struct {
		Key string `json:"key"`
	}
	if err := json.Unmarshal(arguments, &in); err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Key    string `json:"key"`
		Length int    `json:"length"`
	}{in.Key, len(in.Key)})
}

// nativeChat does what the guest chat does.
var nativeChat = host.ChatFunc(func(ctx context.Context, c *host.ChatContext, next host.Next) error {
	if len(c.Request.Messages) == 0 {
		return fmt.Errorf("%w: there is no message to answer", errOther)
	}
	return next(ctx)
})
