package middleware

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// LoggingConfig says what is logged of runs.
type LoggingConfig struct {
	// Logger gets the records. Default: slog.Default().
	Logger *slog.Logger
	// Content also logs what was said: texts, instructions, arguments and results, at the level debug and nowhere else.
	// Default: no content.
	Content bool
	// Redact says what is left out of the records. Default: that of [RedactConfig].
	Redact RedactConfig
}

func (c LoggingConfig) withDefaults() LoggingConfig {
	c.Logger = logger(c.Logger)
	c.Redact = c.Redact.withDefaults()
	return c
}

type logging struct{ config LoggingConfig }

var (
	_ host.AgentMiddleware    = (*logging)(nil)
	_ host.ChatMiddleware     = (*logging)(nil)
	_ host.FunctionMiddleware = (*logging)(nil)
)

// NewLogging returns middleware that logs each run, model call and tool call when it ends: how long it took, what it
// counted, its tokens, its error. What succeeded is at the level info, calls that failed are at warn, runs that failed at
// error. All records of a run have its id as "run". Records go through [NewRedactingHandler]. No text of the conversation is in a
// record unless Content is set, but for what errors quote. It uses all three layers and belongs outermost; content is
// logged as middleware further in left it.
func NewLogging(c LoggingConfig) host.Middleware {
	c = c.withDefaults()
	c.Logger = slog.New(NewRedactingHandler(c.Logger.Handler(), c.Redact))
	l := &logging{config: c}
	return host.Middleware{
		Agent:    []host.AgentMiddleware{l},
		Chat:     []host.ChatMiddleware{l},
		Function: []host.FunctionMiddleware{l},
	}
}

// SourceType is what traces call it.
func (*logging) SourceType() string { return "logging" }

// ProcessAgent logs a run.
func (l *logging) ProcessAgent(ctx context.Context, c *host.AgentContext, next host.Next) error {
	start := time.Now()
	streamed := watchUpdates(c.OnStream, start)
	err := next(ctx)
	attrs := append(common(c.RunID, c.Session, start),
		slog.String("agent", c.AgentName), slog.Bool("streaming", c.Streaming), slog.Int("messages_in", len(c.Messages)))
	attrs = append(append(attrs, streamed.attrs(c.Streaming)...), responseAttrs(c.Result)...)
	l.ended(ctx, "run", slog.LevelError, err, attrs)
	if l.content(ctx) {
		l.log(ctx, slog.LevelDebug, "run content", append(common(c.RunID, c.Session, start),
			slog.String("input", said(c.Messages)), slog.String("output", saidIn(c.Result))))
	}
	return err
}

// ProcessChat logs a model call.
func (l *logging) ProcessChat(ctx context.Context, c *host.ChatContext, next host.Next) error {
	start := time.Now()
	streamed := watchUpdates(c.OnStream, start)
	err := next(ctx)
	attrs := append(common(c.RunID, c.Session, start),
		slog.Bool("streaming", c.Streaming), slog.Int("messages_in", len(c.Request.Messages)), slog.Int("tools", len(c.Request.Tools)))
	attrs = append(append(attrs, streamed.attrs(c.Streaming)...), responseAttrs(c.Result)...)
	l.ended(ctx, "model call", slog.LevelWarn, err, attrs)
	if l.content(ctx) {
		l.log(ctx, slog.LevelDebug, "model call content", append(common(c.RunID, c.Session, start),
			slog.String("instructions", c.Request.Instructions), slog.String("input", said(c.Request.Messages)),
			slog.String("output", saidIn(c.Result))))
	}
	return err
}

// ProcessFunction logs a tool call. The result of one that failed is not looked at: it may be under way still.
func (l *logging) ProcessFunction(ctx context.Context, c *host.FunctionContext, next host.Next) error {
	start := time.Now()
	err := next(ctx)
	attrs := append(common(c.RunID, c.Session, start),
		slog.String("tool", c.Tool.Definition().Name), slog.String("source", orDefault(c.Tool.SourceID, OwnTools)), slog.String("call", c.CallID))
	var result jsontext.Value
	if err == nil {
		result = c.Result
		attrs = append(attrs, slog.Int("result_bytes", len(result)))
	}
	l.ended(ctx, "tool call", slog.LevelWarn, err, attrs)
	if l.content(ctx) {
		l.log(ctx, slog.LevelDebug, "tool call content", append(common(c.RunID, c.Session, start),
			slog.String("call", c.CallID), slog.Any("arguments", c.Arguments), slog.Any("result", result)))
	}
	return err
}

func common(runID string, s *host.Session, start time.Time) []slog.Attr {
	attrs := []slog.Attr{slog.Duration("duration", time.Since(start)), slog.String("run", runID)}
	if s != nil {
		attrs = append(attrs, slog.String("session", s.ID()))
	}
	return attrs
}

func (l *logging) ended(ctx context.Context, what string, failed slog.Level, err error, attrs []slog.Attr) {
	switch {
	case err == nil:
		l.log(ctx, slog.LevelInfo, what+" ended", attrs)
	case errors.Is(err, host.ErrTerminate):
		l.log(ctx, slog.LevelInfo, what+" ended", append(attrs, slog.Bool("terminated", true)))
	default:
		l.log(ctx, failed, what+" failed", append(attrs, slog.Any("error", err)))
	}
}

// log writes a record. The run's context may be over, and the record belongs to it all the same.
func (l *logging) log(ctx context.Context, level slog.Level, text string, attrs []slog.Attr) {
	l.config.Logger.LogAttrs(context.WithoutCancel(ctx), level, text, attrs...)
}

func (l *logging) content(ctx context.Context) bool {
	return l.config.Content && l.config.Logger.Enabled(ctx, slog.LevelDebug)
}

// updateCount is what is known of one stream.
type updateCount struct {
	first   time.Duration
	updates int
}

func watchUpdates(register func(host.StreamHooks), start time.Time) *updateCount {
	u := &updateCount{}
	register(host.StreamHooks{Update: func(update *host.Update, emit func(*host.Update) error) error {
		if u.updates++; u.updates == 1 {
			u.first = time.Since(start)
		}
		return emit(update)
	}})
	return u
}

func (u *updateCount) attrs(streaming bool) []slog.Attr {
	if !streaming {
		return nil
	}
	return []slog.Attr{slog.Int("updates", u.updates), slog.Duration("first_update", u.first)}
}

func responseAttrs(r *host.Response) []slog.Attr {
	if r == nil {
		return nil
	}
	calls := 0
	for _, m := range r.Messages {
		for _, c := range m.Contents {
			if c.Kind() == message.KindFunctionCall {
				calls++
			}
		}
	}
	attrs := []slog.Attr{
		slog.Int("messages_out", len(r.Messages)), slog.Int("calls", calls),
		slog.String("model", r.Model), slog.String("finish_reason", string(r.FinishReason)),
	}
	if r.Usage != nil {
		attrs = append(attrs, slog.Int("input_tokens", r.Usage.InputTokens), slog.Int("output_tokens", r.Usage.OutputTokens))
	}
	return attrs
}

// said is the texts of messages, each behind its role.
func said(messages []*message.Message) string {
	lines := make([]string, len(messages))
	for i, m := range messages {
		lines[i] = string(m.Role) + ": " + m.Text()
	}
	return strings.Join(lines, "\n")
}

func saidIn(r *host.Response) string {
	if r == nil {
		return ""
	}
	return said(r.Messages)
}
