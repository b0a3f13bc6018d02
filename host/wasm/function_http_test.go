package wasm_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/host/wasm/egress"
)

const apiKey = "sk-not-for-plugins-0123456789"

// echoing is a server that answers with what it was sent, and keeps it.
func echoing(t testing.TB) (url string, got *string) {
	t.Helper()
	got = new(string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*got = r.Header.Get("Authorization")
		_, _ = io.WriteString(w, r.Method+" "+r.Header.Get("Authorization"))
	}))
	t.Cleanup(server.Close)
	return server.URL, got
}

// fetching loads a plugin that sends one request.
func fetching(t testing.TB, request string, c wasm.Config) (*host.Agent, *answers, *lockedBuffer) {
	t.Helper()
	log := &lockedBuffer{}
	c.Logger = log.logger()
	p, heard := script{"before_run": {{"http_request", request}, out(`{}`)}}.load(t, c)
	return newAgent(t, &model{}, p), heard, log
}

func TestAPluginSendsRequestsWithSecretsThatItNeverSees(t *testing.T) {
	url, got := echoing(t)
	agent, heard, log := fetching(t, fmt.Sprintf(`{"url":%q,"method":"POST","headers":{"Authorization":"Bearer {{secret.api}}"}}`, url+"/v1"), wasm.Config{
		Grants:  wasm.Grants{HTTP: []abi.HTTPGrant{{Origin: url, Secrets: []string{"api"}, Private: true}}},
		Secrets: map[string]egress.Secret{"api": egress.NewSecret(apiKey), "other": egress.NewSecret("not-used-at-all")},
	})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, []string{"POST Bearer [hidden]"}, heard.all(), "the server got it, and what it echoes is hidden")
	require.Equal(t, "Bearer "+apiKey, *got)
	require.Contains(t, log.String(), `level=WARN msg="the plugin has secrets that no origin of its grants lists, so it cannot use them"`)
	require.Contains(t, log.String(), "secrets=other")
	require.NotContains(t, log.String(), apiKey)
}

// Neither its input, nor its config or its rights hold a secret's value.
func TestNothingThatAPluginIsGivenHoldsASecret(t *testing.T) {
	heard := &answers{}
	p := mustLoad(t, "logs-its-input", wasm.Config{
		Grants:  wasm.Grants{HTTP: []abi.HTTPGrant{{Origin: "https://api.example.com", Secrets: []string{"api"}}}},
		Secrets: map[string]egress.Secret{"api": egress.NewSecret(apiKey)}, OnLog: heard.log,
	})
	_, err := newAgent(t, &model{}, p).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Contains(t, strings.Join(heard.all(), "\n"), `"secrets":["api"]`, "its init is told of the right")
	require.NotContains(t, strings.Join(heard.all(), "\n"), apiKey)
	require.NotContains(t, fmt.Sprintf("%+v", p.Grants()), apiKey)
}

func TestRequestsToAnybodyElseStopTheCall(t *testing.T) {
	url, got := echoing(t)
	granted := []abi.HTTPGrant{{Origin: url, Methods: []string{"GET"}, Private: true}}
	for request, want := range map[string]string{
		`{"url":"https://evil.example.com/"}`:                                        "a request to https://evil.example.com is denied",
		`{"url":"` + url + `@evil.example.com/"}`:                                    "denied",
		`{"url":"` + url + `/","method":"POST"}`:                                     "denied",
		`{"url":"` + url + `/","headers":{"Authorization":"Bearer {{secret.api}}"}}`: "the secret api is not for this origin",
		`{"url":"http://localhost` + url[strings.LastIndex(url, ":"):] + `/"}`:       "denied",
	} {
		agent, heard, log := fetching(t, request, wasm.Config{
			Grants: wasm.Grants{HTTP: granted}, Secrets: map[string]egress.Secret{"api": egress.NewSecret(apiKey)},
		})
		_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.ErrorContains(t, err, want, request)
		require.NotContains(t, err.Error(), apiKey)
		require.Empty(t, heard.all())
		require.Contains(t, log.String(), "http request denied", request)
	}
	require.Empty(t, *got)
	agent, _, _ := fetching(t, `{"url":"`+url+`"}`, wasm.Config{})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.ErrorContains(t, err, "http_request: this host sends no HTTP requests for its plugins", "without any grant")
}

func TestAPolicyThatCannotBeIsAFaultOfTheLoad(t *testing.T) {
	_, _, err := script{"before_run": {out(`{}`)}}.tryLoad(t, wasm.Config{
		Grants: wasm.Grants{HTTP: []abi.HTTPGrant{
			{Origin: "http://127.0.0.1:8080"}, {Origin: "https://api.example.com", Methods: []string{"TRACE"}}, {Origin: "https://API.example.com:443"},
		}},
		Secrets: map[string]egress.Secret{"api": egress.NewSecret("short")},
	})
	for _, want := range []string{
		"grant: http[0].origin: 127.0.0.1 is a loopback address: add private: true", "grant: http[1].methods[0]: TRACE cannot be allowed",
		"grant: http[2].origin: https://api.example.com has a rule already", "secrets.api: its value has 5 bytes",
	} {
		require.ErrorContains(t, err, want)
	}
	require.NotContains(t, err.Error(), "short")

	_, _, err = script{"before_run": {out(`{}`)}}.tryLoad(t, wasm.Config{Grants: wasm.Grants{HTTP: []abi.HTTPGrant{{OriginFrom: "url"}}}})
	require.ErrorContains(t, err, "grant: http[0]: origin_from is for what a plugin asks for")
}
