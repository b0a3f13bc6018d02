package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/telemetry"
)

// flushTime bounds the wait for the collector at the end.
const flushTime = 5 * time.Second

// otelFlags say whether runs are told to a collector of OpenTelemetry.
type otelFlags struct {
	export  bool
	content bool
}

func (f *otelFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.export, "otel", false,
		"send traces and metrics over OTLP/HTTP, to http://localhost:4318 or where the OTEL_EXPORTER_OTLP_* variables say")
	cmd.Flags().BoolVar(&f.content, "otel-content", false, "with --otel: send what was said, too")
}

// exporting is telemetry under way. Its zero value sends nothing.
type exporting struct {
	tracer host.Tracer
	stops  []func(context.Context) error
	warn   io.Writer

	mu      sync.Mutex
	faults  []error
	stopped bool
}

// start begins the export. provider names the model's. Where the collector is not there, that is told at the end: no
// answer waits for it.
func (f otelFlags) start(ctx context.Context, cmd *cobra.Command, s streams, log *slog.Logger, provider string) (*exporting, error) {
	e := &exporting{warn: s.err}
	switch {
	case f.content && !f.export:
		return nil, &usageError{cmd, errors.New("--otel-content needs --otel")}
	case !f.export:
		return e, nil
	}
	otel.SetLogger(logr.FromSlogHandler(log.Handler()))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(e.failed))
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", "weft"), attribute.String("service.version", readVersions().Weft),
	), resource.WithFromEnv()) // the last one wins
	if err != nil {
		log.Warn("a part of OTEL_RESOURCE_ATTRIBUTES is left out of telemetry", "error", err)
	}
	var traceOptions []otlptracehttp.Option
	var metricOptions []otlpmetrichttp.Option
	if !anySet("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_INSECURE", "OTEL_EXPORTER_OTLP_TRACES_INSECURE") {
		traceOptions = append(traceOptions, otlptracehttp.WithInsecure()) // the default is a collector on this machine
	}
	if !anySet("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_INSECURE", "OTEL_EXPORTER_OTLP_METRICS_INSECURE") {
		metricOptions = append(metricOptions, otlpmetrichttp.WithInsecure())
	}
	traces, err := otlptracehttp.New(ctx, traceOptions...)
	if err != nil {
		return nil, fmt.Errorf("--otel: %w", err)
	}
	metrics, err := otlpmetrichttp.New(ctx, metricOptions...)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("--otel: %w", err), traces.Shutdown(ctx))
	}
	tracing := sdktrace.NewTracerProvider(sdktrace.WithBatcher(traces), sdktrace.WithResource(about))
	metering := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(metrics)), sdkmetric.WithResource(about))
	e.stops = []func(context.Context) error{tracing.Shutdown, metering.Shutdown}
	e.tracer, err = telemetry.New(telemetry.Config{TracerProvider: tracing, MeterProvider: metering, Provider: provider, Content: f.content})
	return e, err
}

// anySet reports whether one of the variables is set.
func anySet(variables ...string) bool {
	for _, v := range variables {
		if os.Getenv(v) != "" {
			return true
		}
	}
	return false
}

// failed keeps an error of the export until the end.
func (e *exporting) failed(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil && !e.stopped {
		e.faults = append(e.faults, err)
	}
}

// stop sends what was not sent yet, at most for a time, and warns where something was lost.
func (e *exporting) stop(within time.Duration) {
	if len(e.stops) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	var wg sync.WaitGroup
	for _, stop := range e.stops {
		wg.Go(func() { e.failed(stop(ctx)) })
	}
	wg.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stopped = true
	if len(e.faults) > 0 {
		fmt.Fprintf(e.warn, "weft: warning: telemetry was lost: %s\nThe answers are not affected. Is a collector listening? "+
			"OTEL_EXPORTER_OTLP_ENDPOINT says where it is.\n", printable(e.faults[0].Error()))
	}
}
