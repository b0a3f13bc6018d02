package telemetry_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/telemetry"
)

// BenchmarkRun is a run with one hook and one model call: two spans beside the run's own.
func BenchmarkRun(b *testing.B) {
	meters := func() *sdkmetric.MeterProvider {
		return sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	}
	for _, c := range []struct {
		name   string
		config *telemetry.Config
	}{
		{"no tracer", nil},
		{"nothing recorded", &telemetry.Config{}},
		{"metrics", &telemetry.Config{MeterProvider: meters()}},
		{"spans not sampled", &telemetry.Config{TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()))}},
		{"spans", &telemetry.Config{TracerProvider: sdktrace.NewTracerProvider()}},
		{"spans and metrics", &telemetry.Config{TracerProvider: sdktrace.NewTracerProvider(), MeterProvider: meters()}},
		{"spans with content", &telemetry.Config{TracerProvider: sdktrace.NewTracerProvider(), Content: true}},
	} {
		b.Run(c.name, func(b *testing.B) {
			config := host.AgentConfig{Name: "guide", Client: &scripted{replies: []*host.Response{says("Hi.")}}, Providers: []host.Provider{
				host.BeforeRunFunc("clock", func(context.Context, *host.SessionContext) error { return nil }),
			}}
			if c.config != nil {
				tracer, err := telemetry.New(*c.config)
				require.NoError(b, err)
				config.Tracer = tracer
			}
			agent, input := newAgent(b, config), host.Text("hi")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := agent.Run(b.Context(), input, host.RunConfig{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
