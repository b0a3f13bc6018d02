package middleware

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/compaction"
	"github.com/weft-run/weft/message"
)

// OverflowConfig says what is done where a conversation is longer than the model can read.
type OverflowConfig struct {
	// Compactor thins out the messages of the call. Default: the older half goes ([compaction.Truncation]).
	Compactor host.Compactor
	// Logger gets a warning for each compaction. Default: slog.Default().
	Logger *slog.Logger
}

func (c OverflowConfig) withDefaults() OverflowConfig {
	if c.Compactor == nil {
		c.Compactor = newerHalf{}
	}
	c.Logger = logger(c.Logger)
	return c
}

// newerHalf lets the older half of the messages go.
type newerHalf struct{}

var _ host.Compactor = newerHalf{}

// Compact keeps the newer half, and what compaction never lets go.
func (newerHalf) Compact(ctx context.Context, messages []*message.Message, own *message.Message) ([]*message.Message, error) {
	half := (len(messages) + 1) / 2
	return compaction.Truncation{MaxMessages: half, CompactTo: half}.Compact(ctx, messages, own)
}

type overflow struct{ config OverflowConfig }

var _ host.ChatMiddleware = (*overflow)(nil)

// NewOverflow returns chat middleware that compacts a model call's messages once where the model answered
// [host.ErrContextLength], and makes the call again. What is stored stays as it is. If that is too long as well, nothing
// could go, or the service keeps the conversation, which no compaction here reaches, the model's error is returned and
// says so. A call of which any update left is not made again. It belongs outside of [NewRetry].
func NewOverflow(c OverflowConfig) host.Middleware {
	return host.Middleware{Chat: []host.ChatMiddleware{&overflow{c.withDefaults()}}}
}

// SourceType is what traces call it.
func (*overflow) SourceType() string { return "overflow" }

// ProcessChat makes the call, and once more where it was too long.
func (o *overflow) ProcessChat(ctx context.Context, c *host.ChatContext, next host.Next) error {
	restore := asItStood(c)
	shown := watchShown(c)
	err := next(ctx)
	switch {
	case err == nil, !errors.Is(err, host.ErrContextLength), *shown, ctx.Err() != nil:
		return err
	case c.Request.ConversationID != "":
		return fmt.Errorf("not compacted, for the service keeps the conversation %s: %w", c.Request.ConversationID, err)
	}
	restore()
	before := c.Request.Messages
	kept, failed := o.config.Compactor.Compact(ctx, slices.Clone(before), ownQuestion(before))
	switch {
	case failed != nil:
		return errors.Join(fmt.Errorf("compaction after the context was too long: %w", failed), err)
	case slices.Equal(kept, before):
		return fmt.Errorf("compaction found nothing of %d messages that may go: %w", len(before), err)
	}
	o.config.Logger.LogAttrs(ctx, slog.LevelWarn, "a conversation was too long for the model and was compacted",
		slog.Int("messages_before", len(before)), slog.Int("messages_after", len(kept)))
	c.Request.Messages = kept
	if err := next(ctx); err != nil {
		return fmt.Errorf("after compaction from %d to %d messages: %w", len(before), len(kept), err)
	}
	return nil
}

// ownQuestion is the last user message of the run's own input: that without a source, since all that providers add has
// one. Where the input carries sources too, it is the last user message of all.
func ownQuestion(messages []*message.Message) *message.Message {
	var last *message.Message
	for _, m := range slices.Backward(messages) {
		if m.Role != message.RoleUser {
			continue
		}
		if m.SourceID == "" {
			return m
		}
		if last == nil {
			last = m
		}
	}
	return last
}
