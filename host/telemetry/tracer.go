package telemetry

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"

	"github.com/weft-run/weft/host"
)

// scope is the name under which everything is recorded.
const scope = "github.com/weft-run/weft/host/telemetry"

// defaultContentLimit is what one attribute of content may hold.
const defaultContentLimit = 16 << 10

// Config says where telemetry goes and what it holds. The zero value records nothing.
type Config struct {
	// TracerProvider makes the spans. Nil: no spans.
	TracerProvider trace.TracerProvider
	// MeterProvider makes the metrics. Nil: no metrics.
	MeterProvider metric.MeterProvider
	// Provider is gen_ai.provider.name, a name from the conventions where there is one: openai, mistral_ai, gcp.gemini….
	// Default: _OTHER. Agents of different providers each need a tracer of their own.
	Provider string
	// ServerAddress and ServerPort are where the model's service is, if that is known: a host name without a scheme, and
	// a port. A port without an address is an error. Default: not recorded.
	ServerAddress string
	ServerPort    int
	// Content records what was said, and the texts of errors. Default: false.
	Content bool
	// ContentLimit is how many bytes one attribute of content may have. Default: 16 KiB; less than 0 is an error.
	ContentLimit int
}

// Tracer records runs. It is safe for many goroutines and for several agents.
type Tracer struct {
	config Config
	tracer trace.Tracer // nil for none
	meters *meters
	base   []attribute.KeyValue // of model calls: provider and server
}

var _ host.Tracer = (*Tracer)(nil)

// New makes a tracer. All faults of the config are reported at once, and so is a meter provider that refuses an
// instrument.
func New(c Config) (*Tracer, error) {
	var faults []error
	if c.ContentLimit < 0 {
		faults = append(faults, fmt.Errorf("content limit: %d is less than 0; 0 stands for %d bytes", c.ContentLimit, defaultContentLimit))
	}
	if c.ServerPort < 0 || c.ServerPort > 65535 {
		faults = append(faults, fmt.Errorf("server port: %d is not a port", c.ServerPort))
	}
	if c.ServerPort != 0 && c.ServerAddress == "" {
		faults = append(faults, errors.New("server port: it is set, and the server address is not: set both or none"))
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("telemetry: %w", errors.Join(faults...))
	}
	if c.MeterProvider == nil {
		c.MeterProvider = metricnoop.NewMeterProvider()
	}
	if c.Provider == "" {
		c.Provider = unknownName
	}
	if c.ContentLimit == 0 {
		c.ContentLimit = defaultContentLimit
	}
	t := &Tracer{config: c}
	if c.TracerProvider != nil {
		t.tracer = c.TracerProvider.Tracer(scope, trace.WithSchemaURL(schemaURL))
	}
	t.base = []attribute.KeyValue{keyProvider.String(c.Provider)}
	if c.ServerAddress != "" {
		t.base = append(t.base, keyServerAddress.String(c.ServerAddress))
		if c.ServerPort != 0 {
			t.base = append(t.base, keyServerPort.Int(c.ServerPort))
		}
	}
	var err error
	if t.meters, err = newMeters(c.MeterProvider.Meter(scope, metric.WithSchemaURL(schemaURL))); err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	return t, nil
}

// runKey finds the conversation of the run that a context belongs to.
type runKey struct{}

// Start begins a span for a part of a run. Parts inside see it as their parent.
func (t *Tracer) Start(ctx context.Context, h *host.HookTrace) context.Context {
	if t.tracer == nil {
		return ctx
	}
	if h.Hook == "run" {
		// A run with providers and without a session is given one for its own time. It names no conversation.
		ctx = context.WithValue(ctx, runKey{}, h.SessionID)
	}
	name, kind, attributes := t.describe(ctx, h)
	ctx, span := t.tracer.Start(ctx, name, trace.WithTimestamp(h.Start), trace.WithSpanKind(kind), trace.WithAttributes(attributes...))
	if t.config.Content && span.IsRecording() {
		t.recordInput(span, h)
	}
	return ctx
}

// End ends the span of a part, and counts it.
func (t *Tracer) End(ctx context.Context, h *host.HookTrace) {
	failure := ""
	terminated := h.Layer != "" && errors.Is(h.Err, host.ErrTerminate) // ending a layer early is what middleware may do
	if h.Err != nil && !terminated {
		failure = errorType(h.Err)
	}
	if t.tracer != nil { // without, the context may hold somebody else's span
		t.endSpan(trace.SpanFromContext(ctx), h, failure, terminated)
	}
	t.meters.record(ctx, t.base, h, failure)
}

func (t *Tracer) endSpan(span trace.Span, h *host.HookTrace, failure string, terminated bool) {
	if span.IsRecording() {
		span.SetAttributes(t.outcome(h)...)
		if terminated {
			span.SetAttributes(keyTerminated.Bool(true))
		}
		if t.config.Content {
			t.recordOutput(span, h)
		}
		if failure != "" {
			t.recordFailure(span, h.Err, failure)
		}
	}
	span.End(trace.WithTimestamp(h.Start.Add(h.Duration)))
}

// recordFailure marks a span as failed. The text of an error often quotes what was said, so it counts as content.
func (t *Tracer) recordFailure(span trace.Span, err error, failure string) {
	text := ""
	if t.config.Content {
		text = cutText(err.Error(), t.config.ContentLimit)
	}
	span.SetStatus(codes.Error, text)
	span.SetAttributes(keyErrorType.String(failure))
	if model, ok := errors.AsType[*host.ModelError](err); ok && model.Status != 0 {
		span.SetAttributes(keyHTTPStatus.Int(model.Status))
	}
}
