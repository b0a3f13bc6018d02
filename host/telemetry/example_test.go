package telemetry_test

import (
	"context"
	"fmt"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/model/offline"
	"github.com/weft-run/weft/host/telemetry"
)

func ExampleNew() {
	spans := tracetest.NewInMemoryExporter() // a program has an exporter to its collector here
	tracer, err := telemetry.New(telemetry.Config{
		TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)),
		Provider:       "weft.offline",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	agent, err := host.NewAgent(host.AgentConfig{Name: "guide", Client: offline.New(offline.Config{}), Tracer: tracer})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := agent.Run(context.Background(), host.Text("Hello"), host.RunConfig{}); err != nil {
		fmt.Println(err)
		return
	}
	for _, span := range spans.GetSpans() {
		fmt.Println(span.Name)
	}
	// Output:
	// chat
	// invoke_agent guide
}
