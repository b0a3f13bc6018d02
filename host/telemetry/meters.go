package telemetry

import (
	"context"
	"errors"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/weft-run/weft/host"
)

// meters are the instruments.
type meters struct {
	tokens     metric.Int64Histogram
	operation  metric.Float64Histogram
	firstChunk metric.Float64Histogram
	run        metric.Float64Histogram
	hook       metric.Float64Histogram
}

func newMeters(m metric.Meter) (*meters, error) {
	durations := metric.WithExplicitBucketBoundaries(durationBounds...)
	tokens, err1 := newTokenUsage(m, metric.WithExplicitBucketBoundaries(tokenBounds...))
	operation, err2 := newOperationDuration(m, durations)
	firstChunk, err3 := newFirstChunk(m, durations)
	run, err4 := m.Float64Histogram(runDurationName, durations, metric.WithUnit("s"), metric.WithDescription("Duration of a run."))
	hook, err5 := m.Float64Histogram(hookDurationName, metric.WithExplicitBucketBoundaries(hookBounds...), metric.WithUnit("s"),
		metric.WithDescription("Duration of a hook, of middleware or of a tool call."))
	return &meters{tokens.Inst(), operation.Inst(), firstChunk.Inst(), run, hook}, errors.Join(err1, err2, err3, err4, err5)
}

// record counts one part of a run.
func (m *meters) record(ctx context.Context, base []attribute.KeyValue, h *host.HookTrace, failure string) {
	switch h.Hook {
	case "run":
		if m.run.Enabled(ctx) {
			m.run.Record(ctx, h.Duration.Seconds(), known(keyAgentName.String(h.AgentName), keyErrorType.String(failure)))
		}
	case "model":
		m.recordModel(ctx, base, h, failure)
	default:
		if m.hook.Enabled(ctx) {
			sourceType := h.SourceType
			if h.SourceID != "" {
				sourceType = "" // the id says it
			}
			m.hook.Record(ctx, h.Duration.Seconds(), known(keyHook.String(h.Hook), keyAgentName.String(h.AgentName),
				keySourceID.String(h.SourceID), keyLayer.String(h.Layer), keySourceType.String(sourceType), keyErrorType.String(failure)))
		}
	}
}

func (m *meters) recordModel(ctx context.Context, base []attribute.KeyValue, h *host.HookTrace, failure string) {
	if !m.operation.Enabled(ctx) && !m.tokens.Enabled(ctx) && !m.firstChunk.Enabled(ctx) {
		return
	}
	all := append(make([]attribute.KeyValue, 0, 8), base...)
	all = append(all, operationChat)
	if h.Request != nil && h.Request.Options.Model != "" {
		all = append(all, keyModel.String(h.Request.Options.Model))
	}
	if h.Response != nil && h.Response.Model != "" {
		all = append(all, keyResponseModel.String(cutText(h.Response.Model, longestIdentifier)))
	}
	if h.Response != nil && h.Response.Usage != nil {
		for _, count := range [...]struct {
			kind   attribute.KeyValue
			tokens int
		}{{tokenTypeInput, h.Response.Usage.InputTokens}, {tokenTypeOutput, h.Response.Usage.OutputTokens}} {
			m.tokens.Record(ctx, int64(count.tokens), metric.WithAttributes(append(all[:len(all):len(all)], count.kind)...))
		}
	}
	if h.Streaming && h.FirstUpdate > 0 {
		m.firstChunk.Record(ctx, h.FirstUpdate.Seconds(), metric.WithAttributes(all...))
	}
	if failure != "" {
		all = append(all, keyErrorType.String(failure))
	}
	m.operation.Record(ctx, h.Duration.Seconds(), metric.WithAttributes(all...))
}

// known are the attributes that are not empty.
func known(all ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributes(slices.DeleteFunc(all, func(a attribute.KeyValue) bool { return a.Value.AsString() == "" })...)
}
