package openaitest_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weft-run/weft/host/model/openai/openaitest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	r, err := (&http.Client{Transport: transport}).Post(url, "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return r.StatusCode, string(b)
}

func TestTheScript(t *testing.T) {
	s := openaitest.New(openaitest.Reply{Text: "one"})
	defer s.Close()
	status, body := post(t, s.URL+"/chat/completions", `{"model":"m"}`)
	assert.Equal(t, 200, status)
	assert.Contains(t, body, `"content":"one"`)
	status, body = post(t, s.URL+"/chat/completions", `{}`)
	assert.Equal(t, 500, status)
	assert.Contains(t, body, "no reply left")
	s.Add(openaitest.Reply{}, openaitest.Reply{}, openaitest.Status(418, http.Header{"X-A": {"b"}}, "tea"))
	status, _ = post(t, s.URL+"/images", `{}`)
	assert.Equal(t, 404, status)
	status, _ = post(t, s.URL+"/responses", `{`)
	assert.Equal(t, 400, status)
	status, body = post(t, s.URL+"/responses", `{}`)
	assert.Equal(t, 418, status)
	assert.Equal(t, "tea", body)
	require.Len(t, s.Requests(), 5)
	assert.Equal(t, "/v1/chat/completions", s.Requests()[0].Path)
	assert.JSONEq(t, `{"model":"m"}`, string(s.Requests()[0].Body))
}

func TestVectorsComeWithTheirIndexAndNotInOrder(t *testing.T) {
	s := openaitest.New(openaitest.Reply{Vectors: [][]float32{{1, 2}, {3, 4}}, Usage: &openaitest.Usage{Input: 5}})
	defer s.Close()
	status, body := post(t, s.URL+"/embeddings", `{"model":"m","input":["a","b"]}`)
	assert.Equal(t, 200, status)
	assert.JSONEq(t, `{"object":"list","model":"m","data":[{"object":"embedding","index":1,"embedding":[3,4]},
		{"object":"embedding","index":0,"embedding":[1,2]}],"usage":{"prompt_tokens":5,"total_tokens":5}}`, body)
}

// TestStreamsAreOfTheProtocol: each line is a field, each event is behind the other, and the end is marked.
func TestStreamsAreOfTheProtocol(t *testing.T) {
	reply := openaitest.Reply{
		Text: "Grüß Gott", Reasoning: "Hm", Refusal: "No", FinishReason: "length", Usage: &openaitest.Usage{},
		Calls: []openaitest.Call{{ID: "a", Name: "f", Arguments: `{"x":"ü"}`}},
	}
	s := openaitest.New(reply, reply)
	defer s.Close()
	for path, end := range map[string]string{"/chat/completions": "data: [DONE]", "/responses": `"type":"response.incomplete"}`} {
		_, body := post(t, s.URL+path, `{"stream":true}`)
		events := strings.Split(strings.TrimSuffix(body, "\n\n"), "\n\n")
		assert.True(t, strings.HasSuffix(events[len(events)-1], end), events[len(events)-1])
		for _, e := range events {
			for line := range strings.Lines(e) {
				assert.Regexp(t, `^(data|event): \S`, line)
			}
		}
		assert.Equal(t, body, strings.ToValidUTF8(body, "?"))
	}
}

func Example() {
	server := openaitest.New(openaitest.Reply{Text: "It is noon."})
	defer server.Close()
	r, err := http.Post(server.URL+"/chat/completions", "application/json", strings.NewReader(`{"model":"m","stream":true}`))
	if err != nil {
		panic(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer r.Body.Close()
	fmt.Println(r.Header.Get("Content-Type"), server.Requests()[0].Path)
	// Output: text/event-stream /v1/chat/completions
}
