package openai_test

import (
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/model/openai"
	"github.com/weft-run/weft/host/model/openai/openaitest"
)

// TestFaultsOfAConfig come all at once, and none shows a secret.
func TestFaultsOfAConfig(t *testing.T) {
	for _, c := range []struct {
		name   string
		config openai.Config
		want   []string
	}{
		{"all at once", openai.Config{
			BaseURL: "ftp://x", API: "completions", APIKey: key + "\n", MaxResponseBytes: -1, MaxTokensField: "tokens",
			Organization: "a\nb", Project: "\x00", Headers: http.Header{"Bad Name": {"x"}, "X-Token": {key + "\r\n"}},
		}, []string{
			"model is empty", `"ftp://x"`, `api "completions"`, "api key", "max response bytes is -1", `"tokens"`, "organization", "project",
			`"Bad Name"`, `"X-Token"`,
		}},
		{"no scheme", openai.Config{Model: "m", BaseURL: "api.example.com/v1"}, []string{"api.example.com/v1", "https:"}},
		{"no host", openai.Config{Model: "m", BaseURL: "https:///v1"}, []string{"https:///v1"}},
		{"unreadable", openai.Config{Model: "m", BaseURL: "https://a b:c/" + key}, []string{"cannot be read"}},
		{"password", openai.Config{Model: "m", BaseURL: "https://me:" + key + "@example.com/v1"}, []string{"user or password"}},
		{"query", openai.Config{Model: "m", BaseURL: "https://example.com/v1?key=" + key}, []string{"query"}},
		{"key in the clear", openai.Config{Model: "m", BaseURL: "http://models.example.com/v1", APIKey: key}, []string{"models.example.com", "unencrypted"}},
		{"header in the clear", openai.Config{Model: "m", BaseURL: "http://10.0.0.1/v1", Headers: http.Header{"X": {"y"}}}, []string{"unencrypted"}},
		{"not quite this machine", openai.Config{Model: "m", BaseURL: "http://localhost.example.com/v1", APIKey: key}, []string{"unencrypted"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, err := openai.New(c.config)
			require.Error(t, err)
			require.Nil(t, client)
			for _, want := range c.want {
				assert.ErrorContains(t, err, want)
			}
			assert.NotContains(t, everything(err), key)
		})
	}
}

func TestConfigsThatAreFine(t *testing.T) {
	for _, c := range []openai.Config{
		{Model: "m"},
		{Model: "m", APIKey: key},
		{Model: "m", APIKey: key, BaseURL: "http://localhost:1/v1/"},
		{Model: "m", APIKey: key, BaseURL: "http://[::1]:1/v1"},
		{Model: "m", APIKey: key, BaseURL: "http://127.0.0.2/v1"},
		{Model: "m", BaseURL: "http://models.example.com/v1"},
		{Model: "m", APIKey: key, BaseURL: "http://models.example.com/v1", AllowInsecureHTTP: true},
	} {
		_, err := openai.New(c)
		require.NoError(t, err)
	}
}

// TestDefaults holds what is documented of a zero config against what is done.
func TestDefaults(t *testing.T) {
	client := clientOf(t, openai.Config{})
	assert.Contains(t, client.String(), `BaseURL:"https://api.openai.com/v1/" API:"chat_completions"`)
	assert.False(t, client.StoresHistory())
	assert.Equal(t, host.Options{}, client.DefaultOptions())
	server := serverOf(t, openaitest.Reply{Text: "hi"})
	client = clientOf(t, openai.Config{BaseURL: server.URL + "//"})
	_, err := client.Complete(t.Context(), hello())
	require.NoError(t, err)
	request := server.Requests()[0]
	assert.Equal(t, "/v1/chat/completions", request.Path)
	assert.Equal(t, http.MethodPost, request.Method)
	for _, name := range []string{"Authorization", "Openai-Organization", "Openai-Project"} {
		assert.NotContains(t, request.Header, name)
	}
}

// endless is a body of comments, which a stream passes over.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, strings.Repeat(":", 1023)+"\n")
	e.read += n
	return n, nil
}

func TestTheDefaultCap(t *testing.T) {
	body := &endless{}
	client := clientOf(t, openai.Config{HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, ContentLength: -1, Request: r, Body: io.NopCloser(body)}, nil
	})}})
	_, err := streamed(t.Context(), client, hello())
	require.ErrorIs(t, err, host.ErrBadReply)
	assert.ErrorContains(t, err, "67108864 bytes")
	assert.EqualValues(t, 64<<20, openai.DefaultMaxResponseBytes)
	assert.InDelta(t, openai.DefaultMaxResponseBytes, body.read, 1<<20, "no more is read than the cap")
}

func TestStoresHistory(t *testing.T) {
	for _, c := range []struct {
		api   openai.API
		store *bool
		want  bool
	}{
		{openai.ChatCompletions, nil, false},
		{openai.ChatCompletions, new(true), false},
		{openai.Responses, nil, true},
		{openai.Responses, new(true), true},
		{openai.Responses, new(false), false},
	} {
		client := clientOf(t, openai.Config{API: c.api, Options: host.Options{Store: c.store}})
		assert.Equal(t, c.want, client.StoresHistory(), c)
	}
}

func TestHeaders(t *testing.T) {
	server := serverOf(t, openaitest.Reply{Text: "hi"})
	_, err := clientOf(t, openai.Config{
		BaseURL: server.URL, APIKey: key, Organization: "org-1", Project: "proj-1", Headers: http.Header{"X-Many": {"a", "b"}, "User-Agent": {"weft"}},
	}).Complete(t.Context(), hello())
	require.NoError(t, err)
	h := server.Requests()[0].Header
	assert.Equal(t, []string{"Bearer " + key}, h["Authorization"])
	assert.Equal(t, []string{"org-1"}, h["Openai-Organization"])
	assert.Equal(t, []string{"proj-1"}, h["Openai-Project"])
	assert.Equal(t, []string{"a", "b"}, h["X-Many"])
	assert.Equal(t, []string{"weft"}, h["User-Agent"])
	assert.Equal(t, []string{"application/json"}, h["Content-Type"])
}

// TestTheEnvironmentIsNotRead: neither what the SDK looks for, nor a proxy.
func TestTheEnvironmentIsNotRead(t *testing.T) {
	trap := serverOf(t)
	for name, value := range map[string]string{
		"OPENAI_API_KEY": "sk-of-the-environment", "OPENAI_ADMIN_KEY": "sk-admin-of-the-environment", "OPENAI_BASE_URL": trap.URL,
		"OPENAI_ORG_ID": "org-env", "OPENAI_PROJECT_ID": "proj-env", "OPENAI_CUSTOM_HEADERS": "X-Env: 1",
		"HTTP_PROXY": trap.URL, "HTTPS_PROXY": trap.URL, "http_proxy": trap.URL,
	} {
		t.Setenv(name, value)
	}
	for _, api := range bothAPIs {
		server := serverOf(t, openaitest.Reply{Text: "hi"})
		_, err := clientOf(t, openai.Config{BaseURL: server.URL, API: api}).Complete(t.Context(), hello())
		require.NoError(t, err)
		for name, values := range server.Requests()[0].Header {
			for _, v := range values {
				assert.NotContains(t, v, "env", name)
			}
			assert.NotEqual(t, "X-Env", name)
			assert.NotEqual(t, "Authorization", name)
		}
	}
	assert.Contains(t, clientOf(t, openai.Config{}).String(), openai.DefaultBaseURL)
	assert.Empty(t, trap.Requests())
}

// TestMaxTokensFields: OpenAI and Azure know one name, all others the other.
func TestMaxTokensFields(t *testing.T) {
	for base, want := range map[string]string{
		"https://api.openai.com/v1":                 "max_completion_tokens",
		"https://eu.api.openai.com/v1":              "max_completion_tokens",
		"https://mine.openai.azure.com/openai/v1":   "max_completion_tokens",
		"https://openrouter.ai/api/v1":              "max_tokens",
		"https://api.openai.com.evil.example/v1":    "max_tokens",
		"http://localhost:11434/v1":                 "max_tokens",
		"https://generativelanguage.example/openai": "max_tokens",
	} {
		var sent jsontext.Value
		client := clientOf(t, openai.Config{BaseURL: base, HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			w := httptest.NewRecorder()
			b := make([]byte, r.ContentLength)
			if _, err := r.Body.Read(b); assert.NoError(t, err) {
				sent = b
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.WriteString(`{"choices":[{"message":{"content":"hi"}}]}`)
			return w.Result(), nil
		})}})
		request := hello()
		request.Options.MaxTokens = new(9)
		_, err := client.Complete(t.Context(), request)
		require.NoError(t, err)
		assert.Contains(t, string(sent), `"`+want+`":9`, base)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestAGivenHTTPClient is used, and not changed.
func TestAGivenHTTPClient(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"choices":[{"message":{"content":"hi"}}]}`))
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of the handshake that fails below
	server.StartTLS()
	t.Cleanup(server.Close)
	given := server.Client()
	client := clientOf(t, openai.Config{BaseURL: server.URL, APIKey: key, HTTPClient: given})
	_, err := client.Complete(t.Context(), hello())
	require.NoError(t, err)
	assert.Nil(t, given.CheckRedirect)

	client = clientOf(t, openai.Config{BaseURL: server.URL, HTTPClient: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}}})
	_, err = client.Complete(t.Context(), hello())
	require.ErrorIs(t, err, host.ErrUnavailable, "a certificate that nobody trusts")
}
