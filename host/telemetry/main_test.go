package telemetry_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.uber.org/goleak"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/telemetry"
	"github.com/weft-run/weft/message"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a tracer whose spans and metrics can be looked at.
type rig struct {
	*telemetry.Tracer
	spans  *tracetest.InMemoryExporter
	reader *sdkmetric.ManualReader
	open   *openSpans
}

func newRig(t testing.TB, c telemetry.Config) *rig {
	t.Helper()
	r := &rig{spans: tracetest.NewInMemoryExporter(), reader: sdkmetric.NewManualReader(), open: &openSpans{}}
	c.TracerProvider = sdktrace.NewTracerProvider(sdktrace.WithSyncer(r.spans), sdktrace.WithSpanProcessor(r.open))
	c.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(r.reader))
	tracer, err := telemetry.New(c)
	require.NoError(t, err)
	r.Tracer = tracer
	return r
}

// openSpans counts spans that began and did not end.
type openSpans struct{ n atomic.Int64 }

func (o *openSpans) OnStart(context.Context, sdktrace.ReadWriteSpan) { o.n.Add(1) }
func (o *openSpans) OnEnd(sdktrace.ReadOnlySpan)                     { o.n.Add(-1) }
func (o *openSpans) Shutdown(context.Context) error                  { return nil }
func (o *openSpans) ForceFlush(context.Context) error                { return nil }

// tree is each span as "path/of/names", sorted by nothing but their end.
func (r *rig) tree() []string {
	stubs := r.spans.GetSpans()
	byID := map[string]tracetest.SpanStub{}
	for _, s := range stubs {
		byID[s.SpanContext.SpanID().String()] = s
	}
	var paths []string
	for _, s := range stubs {
		path := s.Name
		for p, ok := byID[s.Parent.SpanID().String()]; ok; p, ok = byID[p.Parent.SpanID().String()] {
			path = p.Name + " > " + path
		}
		paths = append(paths, path)
	}
	return paths
}

// span is the first one of a name.
func (r *rig) span(t testing.TB, name string) tracetest.SpanStub {
	t.Helper()
	for _, s := range r.spans.GetSpans() {
		if s.Name == name {
			return s
		}
	}
	require.Failf(t, "no such span", "%q among %q", name, r.tree())
	return tracetest.SpanStub{}
}

func attributes(all []attribute.KeyValue) map[string]any {
	m := map[string]any{}
	for _, a := range all {
		m[string(a.Key)] = a.Value.AsInterface()
	}
	return m
}

// metrics are all histograms: name → attributes → count.
func (r *rig) metrics(t testing.TB) map[string]map[string]uint64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, r.reader.Collect(context.Background(), &all))
	m := map[string]map[string]uint64{}
	add := func(name string, set attribute.Set, count uint64) {
		if m[name] == nil {
			m[name] = map[string]uint64{}
		}
		m[name][set.Encoded(attribute.DefaultEncoder())] = count
	}
	for _, scope := range all.ScopeMetrics {
		for _, metric := range scope.Metrics {
			switch data := metric.Data.(type) {
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					add(metric.Name, p.Attributes, p.Count)
				}
			case metricdata.Histogram[int64]:
				for _, p := range data.DataPoints {
					add(metric.Name, p.Attributes, p.Count)
				}
			default:
				require.Failf(t, "another kind of metric", "%T", data)
			}
		}
	}
	return m
}

// everything is all that was recorded, as one text.
func (r *rig) everything(t testing.TB) string {
	t.Helper()
	var b strings.Builder
	for _, s := range r.spans.GetSpans() {
		fmt.Fprintln(&b, s.Name, s.Status.Description, s.Events, attributes(s.Attributes))
	}
	fmt.Fprintln(&b, r.metrics(t))
	return b.String()
}

// scripted is a model that gives one reply after the other, and the last one for ever.
type scripted struct {
	mu      sync.Mutex
	replies []*host.Response
	fail    error
	// hang, where set, is closed once a stream began; the stream then waits for the end of its context.
	hang chan struct{}
}

func (s *scripted) Complete(context.Context, *host.ChatRequest) (*host.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return nil, s.fail
	}
	r := s.replies[0]
	if len(s.replies) > 1 {
		s.replies = s.replies[1:]
	}
	return r, nil
}

func (s *scripted) Stream(ctx context.Context, request *host.ChatRequest) iter.Seq2[*host.Update, error] {
	return func(yield func(*host.Update, error) bool) {
		r, err := s.Complete(ctx, request)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, m := range r.Messages {
			if !yield(&host.Update{Role: m.Role, Contents: m.Contents}, nil) {
				return
			}
		}
		if s.hang != nil {
			close(s.hang)
			<-ctx.Done()
			yield(nil, ctx.Err())
			return
		}
		yield(&host.Update{ResponseID: r.ID, Model: r.Model, FinishReason: r.FinishReason, Usage: r.Usage}, nil)
	}
}

func calls(calls ...message.FunctionCall) *host.Response {
	m := message.New(message.RoleAssistant)
	for _, c := range calls {
		m.Contents = append(m.Contents, c)
	}
	return &host.Response{
		Messages: []*message.Message{m}, ID: "r1", Model: "big-1", FinishReason: host.FinishToolCalls,
		Usage: &host.Usage{InputTokens: 10, OutputTokens: 5},
	}
}

func says(text string) *host.Response {
	r := host.NewResponse(text)
	r.ID, r.Model, r.Usage = "r2", "big-1", &host.Usage{InputTokens: 20, OutputTokens: 7, CachedInputTokens: 12, ReasoningTokens: 3}
	return r
}

// tool is a function tool.
type tool struct {
	name string
	call func(ctx context.Context, arguments jsontext.Value) (jsontext.Value, error)
}

func (f tool) Definition() host.ToolDefinition { return host.ToolDefinition{Name: f.name} }

func (f tool) Call(ctx context.Context, arguments jsontext.Value) (jsontext.Value, error) {
	return f.call(ctx, arguments)
}

func answering(name, result string) host.Tool {
	return &tool{name, func(context.Context, jsontext.Value) (jsontext.Value, error) { return jsontext.Value(result), nil }}
}

func failing(name, text string) host.Tool {
	return &tool{name, func(context.Context, jsontext.Value) (jsontext.Value, error) { return nil, errors.New(text) }}
}

func newAgent(t testing.TB, c host.AgentConfig) *host.Agent {
	t.Helper()
	c.Logger = slog.New(slog.DiscardHandler)
	agent, err := host.NewAgent(c)
	require.NoError(t, err)
	return agent
}

// run runs an agent, streamed or not.
func run(ctx context.Context, agent *host.Agent, streamed bool, c host.RunConfig) (*host.Response, error) {
	if streamed {
		return agent.Stream(ctx, host.Text("What is a weft?"), c).Response()
	}
	return agent.Run(ctx, host.Text("What is a weft?"), c)
}
