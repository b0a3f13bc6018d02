package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/model/offline"
)

// collector is a receiver of OTLP/HTTP.
type collector struct {
	*httptest.Server
	t testing.TB

	mu      sync.Mutex
	spans   []string
	metrics []string
	service map[string]string
	bodies  []byte
}

func newCollector(t testing.TB) *collector {
	c := &collector{t: t, service: map[string]string{}}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(r.Body)
		assert.NoError(c.t, err)
		body = unzipped
	}
	raw, err := io.ReadAll(body)
	assert.NoError(c.t, err)
	assert.Equal(c.t, "application/x-protobuf", r.Header.Get("Content-Type"))
	c.bodies = append(c.bodies, raw...)
	w.Header().Set("Content-Type", "application/x-protobuf")
	switch r.URL.Path {
	case "/v1/traces":
		var m collectortrace.ExportTraceServiceRequest
		assert.NoError(c.t, proto.Unmarshal(raw, &m))
		for _, resource := range m.ResourceSpans {
			for _, a := range resource.Resource.Attributes {
				c.service[a.Key] = a.Value.GetStringValue()
			}
			for _, scope := range resource.ScopeSpans {
				for _, s := range scope.Spans {
					c.spans = append(c.spans, s.Name)
				}
			}
		}
	case "/v1/metrics":
		var m collectormetrics.ExportMetricsServiceRequest
		assert.NoError(c.t, proto.Unmarshal(raw, &m))
		for _, resource := range m.ResourceMetrics {
			for _, scope := range resource.ScopeMetrics {
				for _, metric := range scope.Metrics {
					c.metrics = append(c.metrics, metric.Name)
				}
			}
		}
	default:
		assert.Failf(c.t, "another path", "%s", r.URL.Path)
	}
}

// weft runs a command line in this process, in a folder with a weft.yaml.
func weft(t *testing.T, args ...string) (code int, out, told string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "weft.yaml")
	require.NoError(t, os.WriteFile(file, []byte("name: guide\n"), 0o600))
	var stdout, stderr bytes.Buffer
	code = execute(append([]string{"run", file, "--no-cache"}, args...), streams{in: strings.NewReader(""), out: &stdout, err: &stderr})
	return code, stdout.String(), stderr.String()
}

func TestRunsAreToldToACollector(t *testing.T) {
	const question = "What is a heddle?"
	for _, content := range []bool{false, true} {
		c := newCollector(t)
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
		t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
		args := []string{"-m", question, "--otel"}
		if content {
			args = append(args, "--otel-content")
		}
		code, out, told := weft(t, args...)
		require.Equal(t, exitOK, code)
		require.NotEmpty(t, out)
		require.Empty(t, told)
		assert.ElementsMatch(t, []string{"invoke_agent guide", "chat"}, c.spans)
		assert.Subset(t, c.metrics, []string{"gen_ai.client.token.usage", "gen_ai.client.operation.duration", "weft.run.duration"})
		assert.Equal(t, "weft", c.service["service.name"])
		assert.Equal(t, "test", c.service["deployment.environment.name"])
		assert.Equal(t, content, strings.Contains(string(c.bodies), question))
	}
}

func TestTheEnvironmentNamesTheService(t *testing.T) {
	c := newCollector(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	t.Setenv("OTEL_SERVICE_NAME", "loom")
	code, _, _ := weft(t, "-m", "hi", "--otel", "--trace")
	require.Equal(t, exitOK, code)
	assert.Equal(t, "loom", c.service["service.name"])
}

func TestWithoutTheFlagNothingIsSent(t *testing.T) {
	c := newCollector(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	code, _, told := weft(t, "-m", "hi")
	require.Equal(t, exitOK, code)
	assert.Empty(t, told)
	assert.Empty(t, c.bodies)

	code, _, told = weft(t, "-m", "hi", "--otel-content")
	require.Equal(t, exitUsage, code)
	assert.Contains(t, told, "--otel-content needs --otel")
}

func TestACollectorThatIsNotThereHarmsNoAnswer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close()) // nobody listens there now
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+l.Addr().String())
	code, out, told := weft(t, "-m", "What is a weft?", "--otel")
	require.Equal(t, exitOK, code)
	assert.NotEmpty(t, out)
	assert.Equal(t, 1, strings.Count(told, "weft: warning: telemetry was lost"), told)
	assert.Contains(t, told, l.Addr().String())
	assert.Contains(t, told, "The answers are not affected.")
}

func TestACollectorThatHangsIsLeft(t *testing.T) {
	asked, release := make(chan struct{}, 16), make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-release
	}))
	defer hanging.Close()
	defer close(release)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", hanging.URL)
	var told bytes.Buffer
	e, err := otelFlags{export: true}.start(t.Context(), nil, streams{err: &told}, slog.New(slog.DiscardHandler), "offline")
	require.NoError(t, err)
	agent, err := host.NewAgent(host.AgentConfig{Client: offline.New(offline.Config{}), Tracer: e.tracer})
	require.NoError(t, err)
	_, err = agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	began := time.Now()
	e.stop(100 * time.Millisecond)
	assert.Less(t, time.Since(began), flushTime)
	<-asked
	assert.Contains(t, told.String(), "telemetry was lost")
}
