package openai_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/model/openai"
)

// FuzzAnswers gives the client any bytes as an answer, streamed and not: there is a response or a typed error.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{
		piece(openai.ChatCompletions, "a") + "data: [DONE]\n\n",
		piece(openai.Responses, "a") + "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n",
		`{"id":"1","choices":[{"message":{"content":"a","tool_calls":[{"index":-1,"id":"x","function":{"name":"f","arguments":{"a":1}}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`,
		`{"status":"completed","output":[{"type":"function_call","name":"f","arguments":"{"},{"type":"reasoning","summary":[{"text":"a"},{"text":"b"}]}],"error":null}`,
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":99999999,\"function\":{\"name\":\"f\",\"arguments\":\"\\ud83d\\ude00\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n",
		"data: {\"type\":\"response.function_call_arguments.delta\",\"output_index\":-5,\"delta\":\"{\"}\n\n",
		"event: error\r\ndata: {\"error\":{\"code\":429,\"message\":\"\\u0000\"}}\r\n\r\n",
		"data\n\n:\n\ndata: \xff\n\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		transport := roundTrip(func(r *http.Request) (*http.Response, error) {
			return &http.Response{
				StatusCode: http.StatusOK, Header: http.Header{}, ContentLength: -1, Request: r, Body: io.NopCloser(strings.NewReader(string(body))),
			}, nil
		})
		for _, api := range bothAPIs {
			client, err := openai.New(openai.Config{Model: "m", API: api, APIKey: key, HTTPClient: &http.Client{Transport: transport}, MaxResponseBytes: 1 << 16})
			if err != nil {
				t.Fatal(err)
			}
			r, err := client.Complete(t.Context(), hello())
			typed(t, r != nil, err)
			updates, err := streamed(t.Context(), client, hello())
			typed(t, len(updates) > 0, err)
			for _, u := range updates {
				if u == nil {
					t.Fatal("an update is nil")
				}
			}
		}
	})
}

// typed wants an answer, or an error whose kind tells what to do.
func typed(t *testing.T, answered bool, err error) {
	t.Helper()
	if err == nil {
		if !answered {
			t.Fatal("neither answer nor error")
		}
		return
	}
	if m, ok := errors.AsType[*host.ModelError](err); !ok || m.Kind == nil {
		t.Fatalf("no typed error: %v", err)
	}
}
