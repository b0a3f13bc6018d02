package structured

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// Middleware is chat middleware that makes the answers of a run fit the schema of T: it sets the response format, checks
// each reply without tool calls, and has bad ones repaired. It belongs into [host.Middleware.Chat], first in the list, so
// that what the others make of a reply is checked as well. It is safe for many runs at once. A type that has no schema,
// and a bad config, are errors.
func Middleware[T any](c Config) (host.ChatMiddleware, error) {
	f, err := formatOf[T](c)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// MiddlewareSchema is [Middleware] for a schema.
func MiddlewareSchema(s host.Schema, c Config) (host.ChatMiddleware, error) {
	f, err := newFormat(s, c)
	if err != nil {
		return nil, err
	}
	return f, nil
}

var _ host.ChatMiddleware = (*format)(nil)

// SourceType is what traces call it.
func (*format) SourceType() string { return "structured" }

// ProcessChat asks until the answer fits, or the repairs are used up.
func (f *format) ProcessChat(ctx context.Context, c *host.ChatContext, next host.Next) error {
	format := f.request
	format.Schema = format.Schema.Clone()
	c.Request.Options.ResponseFormat = &format
	var spent *host.Usage
	for attempts := 1; ; attempts++ {
		wrong, err := f.attempt(ctx, c, next, spent)
		switch {
		case err != nil:
			return err
		case wrong == nil:
			if c.Result != nil && spent != nil {
				whole := *c.Result
				whole.Usage = sum(spent, whole.Usage)
				c.Result = &whole
			}
			return nil
		case attempts > f.repairs || !wrong.again():
			wrong.Attempts = attempts
			return wrong
		}
		spent = sum(spent, c.Result.Usage)
		f.askAgain(c, wrong)
		c.Result = nil // it must not be taken for the next call's
	}
}

// attempt makes one call. What it streams is held back until it is known to be good.
func (f *format) attempt(ctx context.Context, c *host.ChatContext, next host.Next, spent *host.Usage) (*Error, error) {
	if !c.Streaming {
		if err := next(ctx); err != nil || c.Result == nil {
			return nil, err
		}
		answer, wrong := f.final(c)
		if wrong == nil && answer != nil {
			c.Result = withAnswer(c.Result, answer)
		}
		return wrong, nil
	}
	var held []*host.Update
	var wrong *Error
	c.OnStream(host.StreamHooks{
		Update: func(u *host.Update, emit func(*host.Update) error) error {
			if len(u.Contents) == 0 && u.Usage == nil && u.FinishReason == "" && u.ResponseID == "" && u.MessageID == "" && u.Model == "" {
				return emit(u) // no part of the answer
			}
			held = append(held, u)
			return nil
		},
		End: func(emit func(*host.Update) error) error {
			var answer jsontext.Value
			if c.Result != nil {
				answer, wrong = f.final(c)
			}
			if wrong == nil {
				return release(emit, spent, held, answer)
			}
			return nil
		},
	})
	err := next(ctx)
	return wrong, err
}

// release lets a good reply go. answer is nil for one that is on the way to an answer.
func release(emit func(*host.Update) error, spent *host.Usage, held []*host.Update, answer jsontext.Value) error {
	if spent != nil { // so that the updates add up to the response
		if err := emit(&host.Update{Usage: spent}); err != nil {
			return err
		}
	}
	if answer != nil {
		held = updatesWithAnswer(held, answer)
	}
	for _, u := range held {
		if err := emit(u); err != nil {
			return err
		}
	}
	return nil
}

// final checks the reply that stands on the context. One with calls that will be answered is none of its business.
func (f *format) final(c *host.ChatContext) (answer jsontext.Value, wrong *Error) {
	r := read(c.Result.Messages, c.Result.FinishReason)
	if r.calls && c.Request.Options.ToolChoice.Mode != host.ToolChoiceNone { // where that is the choice, calls are dropped
		return nil, nil
	}
	answer, _, wrong = f.check(r)
	return answer, wrong
}

// askAgain makes the request one for a better answer. A service that keeps the conversation has the bad one already.
func (f *format) askAgain(c *host.ChatContext, wrong *Error) {
	complaint := message.User(fmt.Sprintf("That answer cannot be used: %s.\nAnswer again, with exactly one JSON value that fits the schema of %q, "+
		"and with no other text.", cutText(wrong.Err.Error()), f.request.Name))
	if id := c.Result.ConversationID; id != "" {
		c.Request.ConversationID, c.Request.Messages = id, []*message.Message{complaint}
		return
	}
	messages := slices.Clip(c.Request.Messages)
	if wrong.Text != "" {
		messages = append(messages, message.Assistant(wrong.Text))
	}
	c.Request.Messages = append(messages, complaint)
}

// sum adds two usages, either of which may be unknown.
func sum(a, b *host.Usage) *host.Usage {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return &host.Usage{
		InputTokens: a.InputTokens + b.InputTokens, OutputTokens: a.OutputTokens + b.OutputTokens,
		CachedInputTokens: a.CachedInputTokens + b.CachedInputTokens, ReasoningTokens: a.ReasoningTokens + b.ReasoningTokens,
	}
}
