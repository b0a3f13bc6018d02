package openai_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/model/openai"
	"github.com/weft-run/weft/host/model/openai/openaitest"
)

// both calls a client in both ways, and returns the two errors.
func both(t *testing.T, client *openai.Client) []error {
	t.Helper()
	r, err := client.Complete(t.Context(), hello())
	require.Error(t, err)
	require.Nil(t, r)
	_, streamErr := streamed(t.Context(), client, hello())
	require.Error(t, streamErr)
	return []error{err, streamErr}
}

func modelError(t *testing.T, err error) *host.ModelError {
	t.Helper()
	m, ok := errors.AsType[*host.ModelError](err)
	require.True(t, ok, "%v", err)
	return m
}

func TestErrorsOfTheService(t *testing.T) {
	said := func(message, kind, code string) string {
		return fmt.Sprintf(`{"error":{"message":%q,"type":%q,"param":null,"code":%s}}`, message, kind, code)
	}
	in := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
	for _, c := range []struct {
		name   string
		status int
		header http.Header
		body   string
		kind   error
		wait   time.Duration
		want   []string
	}{
		{"key", 401, nil, said("Incorrect API key provided: "+key+". See your keys.", "invalid_request_error", `"invalid_api_key"`), host.ErrAuthentication, 0, []string{"401", "invalid_api_key", "[hidden]"}},
		{"key in a text", 403, nil, "<b>" + key + "</b>", host.ErrAuthentication, 0, []string{"403", "[hidden]"}},
		{"no such model", 404, nil, said("The model x does not exist", "", `"model_not_found"`), host.ErrNotFound, 0, []string{"does not exist"}},
		{"seconds", 429, http.Header{"Retry-After": {"7"}}, said("Slow down", "requests", `"rate_limit_exceeded"`), host.ErrRateLimited, 7 * time.Second, []string{"429 Too Many Requests", "Slow down"}},
		{"milliseconds go first", 429, http.Header{"Retry-After": {"7"}, "Retry-After-Ms": {"1500"}}, said("x", "", "null"), host.ErrRateLimited, 1500 * time.Millisecond, nil},
		{"a date", 503, http.Header{"Retry-After": {in(time.Hour)}}, "", host.ErrUnavailable, time.Hour, []string{"no more was said"}},
		{"a date gone by", 429, http.Header{"Retry-After": {in(-time.Hour)}}, "", host.ErrRateLimited, 0, nil},
		{"nonsense", 429, http.Header{"Retry-After": {"soon"}}, "", host.ErrRateLimited, 0, nil},
		{"quota", 429, nil, said("You exceeded your quota", "insufficient_quota", `"insufficient_quota"`), host.ErrRateLimited, 0, []string{"(insufficient_quota)"}},
		{"context", 400, nil, said("Too long", "invalid_request_error", `"context_length_exceeded"`), host.ErrContextLength, 0, nil},
		{"context by its text", 400, nil, `{"object":"error","message":"This model's maximum context length is 10 tokens","code":400}`, host.ErrContextLength, 0, []string{"maximum context length is 10"}},
		{"content", 400, nil, said("Filtered", "", `"content_filter"`), host.ErrContentFilter, 0, nil},
		{"request", 400, nil, said("No such field", "invalid_request_error", "null"), host.ErrInvalidRequest, 0, []string{"No such field (invalid_request_error)"}},
		{"unprocessable", 422, nil, `{"detail":[{"msg":"x"}]}`, host.ErrInvalidRequest, 0, []string{`{"detail"`}},
		{"error as a text", 400, nil, `{"error":"model is broken"}`, host.ErrInvalidRequest, 0, []string{"model is broken"}},
		{"timeout", 408, nil, "", host.ErrUnavailable, 0, nil},
		{"server", 500, nil, said("The server had an error", "server_error", "null"), host.ErrUnavailable, 0, []string{"500"}},
		{"escapes", 502, nil, "\x1b[31mred\x00\u202e\r\nnext\xff", host.ErrUnavailable, 0, []string{`\x1b[31mred\x00\u202e\r\nnext\ufffd`}},
		{"long", 500, nil, strings.Repeat("x", 1<<20), host.ErrUnavailable, 0, []string{"bytes more)"}},
		{"redirect", 302, http.Header{"Location": {"https://login.example.com/?next=1"}}, "", host.ErrBadReply, 0, []string{"https://login.example.com, which is not followed", "base URL"}},
	} {
		for _, api := range bothAPIs {
			t.Run(string(api)+"/"+c.name, func(t *testing.T) {
				reply := openaitest.Status(c.status, c.header, c.body)
				server := serverOf(t, reply, reply)
				client := clientOf(t, openai.Config{BaseURL: server.URL, API: api, APIKey: key})
				for _, err := range both(t, client) {
					m := modelError(t, err)
					require.ErrorIs(t, err, c.kind)
					assert.Equal(t, c.status, m.Status)
					assert.InDelta(t, c.wait.Seconds(), m.RetryAfter.Seconds(), 5)
					if c.wait < time.Minute {
						assert.Equal(t, c.wait, m.RetryAfter)
					}
					for _, want := range append(c.want, strings.TrimPrefix(strings.TrimSuffix(server.URL, "/v1"), "http://")) {
						assert.ErrorContains(t, err, want)
					}
					assert.Less(t, len(err.Error()), 1300)
					assert.NotContains(t, everything(err), key)
				}
				assert.Len(t, server.Requests(), 2, "nothing is tried again")
			})
		}
	}
}

// everything is all that an error and those below it print.
func everything(err error) string {
	var b strings.Builder
	var walk func(error)
	walk = func(err error) {
		if err == nil {
			return
		}
		fmt.Fprintf(&b, "%v %+v %#v\n", err, err, err)
		switch err := err.(type) {
		case interface{ Unwrap() error }:
			walk(err.Unwrap())
		case interface{ Unwrap() []error }:
			for _, e := range err.Unwrap() {
				walk(e)
			}
		}
	}
	walk(err)
	return b.String()
}

func TestErrorsInsideAnAnswer(t *testing.T) {
	for _, c := range []struct {
		name   string
		api    openai.API
		stream bool
		body   string
		kind   error
		want   string
	}{
		{"chat", openai.ChatCompletions, false, `{"error":{"message":"upstream is down","code":502}}`, host.ErrUnavailable, "upstream is down (502)"},
		{"the status of another", openai.ChatCompletions, false, `{"error":{"message":"upstream is busy","code":429}}`, host.ErrRateLimited, "upstream is busy (429)"},
		{"chat stream", openai.ChatCompletions, true, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"error\":{\"message\":\"slow " + key + "\",\"code\":\"rate_limit_exceeded\"}}\n\n", host.ErrRateLimited, "slow [hidden]"},
		{"chat stream, text", openai.ChatCompletions, true, "event: error\ndata: {\"error\":\"broken\"}\n\n", host.ErrUnavailable, "broken"},
		{"responses", openai.Responses, false, `{"id":"r","status":"failed","error":{"code":"context_length_exceeded","message":"long"}}`, host.ErrContextLength, "long"},
		{"responses without a word", openai.Responses, false, `{"id":"r","status":"cancelled"}`, host.ErrUnavailable, "cancelled"},
		{"responses stream", openai.Responses, true, "data: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"oh\"}}}\n\n", host.ErrUnavailable, "oh (server_error)"},
		{"responses error event", openai.Responses, true, "event: error\ndata: {\"type\":\"error\",\"code\":\"content_filter\",\"message\":\"no\",\"param\":null}\n\n", host.ErrContentFilter, "no (content_filter)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := serverOf(t, openaitest.Body(map[bool]string{false: "application/json", true: "text/event-stream"}[c.stream], c.body, 0))
			client := clientOf(t, openai.Config{BaseURL: server.URL, API: c.api, APIKey: key})
			var err error
			if c.stream {
				_, err = streamed(t.Context(), client, hello())
			} else {
				_, err = client.Complete(t.Context(), hello())
			}
			require.ErrorIs(t, err, c.kind)
			assert.ErrorContains(t, err, c.want)
			assert.NotContains(t, everything(err), key)
		})
	}
}

func TestAnswersOfAnotherForm(t *testing.T) {
	for _, c := range []struct {
		name, contentType, chat, responses, want string
	}{
		{"an HTML page", "text/html; charset=utf-8", "<html>Sign in " + key, "<html>Sign in " + key, "answered text/html: is the base URL right"},
		{"broken JSON", "application/json", `{"choices":[{"message":{"content":"a`, `{"status":"completed"`, "cannot be read"},
		{"two values", "application/json", `{"choices":[{"message":{"content":"a"}}]}{}`, `{"status":"completed"}{}`, "cannot be read"},
		{"a name twice", "application/json", `{"choices":[{"message":{"content":"a","content":"b"}}]}`, `{"status":"completed","status":"failed"}`, "duplicate"},
		{"invalid UTF-8", "application/json", "{\"choices\":[{\"message\":{\"content\":\"a\xff\"}}]}", "{\"status\":\"completed\",\"id\":\"\xff\"}", "UTF-8"},
		{"another type", "application/json", `{"choices":[{"message":{"content":7}}]}`, `{"status":7}`, "cannot be read"},
		{"a list", "application/json", `[]`, `[]`, "cannot be read"},
		{"nothing", "application/json", ``, ``, "cannot be read"},
		{"null", "application/json", `null`, `null`, "cannot be read"},
		{"no answer in it", "application/json", `{}`, `{"status":"in_progress"}`, "cannot be read"},
		{"a call without a name", "application/json", `{"choices":[{"message":{"tool_calls":[{"id":"a","function":{}}]}}]}`, `{"status":"completed","output":[{"type":"function_call","call_id":"a"}]}`, "names no function"},
	} {
		for _, api := range bothAPIs {
			t.Run(string(api)+"/"+c.name, func(t *testing.T) {
				body := map[openai.API]string{openai.ChatCompletions: c.chat, openai.Responses: c.responses}[api]
				reply := openaitest.Body(c.contentType, body, 0)
				client := clientOf(t, openai.Config{BaseURL: serverOf(t, reply, reply).URL, API: api, APIKey: key})
				for _, err := range both(t, client) {
					require.ErrorIs(t, err, host.ErrBadReply)
					assert.ErrorContains(t, err, c.want)
					assert.NotContains(t, everything(err), key)
				}
			})
		}
	}
}

func TestTheCapOfAnAnswer(t *testing.T) {
	long := strings.Repeat("many words ", 1000)
	for _, api := range bothAPIs {
		whole := openaitest.Reply{Text: long, PieceBytes: 100}
		server := serverOf(t, whole, whole, whole)
		client := clientOf(t, openai.Config{BaseURL: server.URL, API: api, MaxResponseBytes: 5000})
		for _, err := range both(t, client) {
			require.ErrorIs(t, err, host.ErrBadReply)
			assert.ErrorContains(t, err, "5000 bytes: raise MaxResponseBytes")
		}
		_, err := clientOf(t, openai.Config{BaseURL: server.URL, API: api}).Complete(t.Context(), hello())
		require.NoError(t, err)
	}
	exact := `{"choices":[{"message":{"content":"a"}}]}`
	reply := openaitest.Body("application/json", exact, 1)
	server := serverOf(t, reply, reply, openaitest.Body("application/json", exact, 0))
	_, err := clientOf(t, openai.Config{BaseURL: server.URL, MaxResponseBytes: int64(len(exact))}).Complete(t.Context(), hello())
	require.NoError(t, err)
	for range 2 { // without a length, and with one
		_, err = clientOf(t, openai.Config{BaseURL: server.URL, MaxResponseBytes: int64(len(exact)) - 1}).Complete(t.Context(), hello())
		require.ErrorIs(t, err, host.ErrBadReply)
	}
}

// TestACompressedAnswerIsCappedAsItIsRead: a small body may be large inside.
func TestACompressedAnswerIsCappedAsItIsRead(t *testing.T) {
	client := handled(t, openai.Config{MaxResponseBytes: 1 << 16}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzipOf(t, bytes.Repeat([]byte(" "), 1<<22))
		_, err := w.Write(z)
		assert.NoError(t, err)
	})
	_, err := client.Complete(t.Context(), hello())
	require.ErrorIs(t, err, host.ErrBadReply)
	assert.ErrorContains(t, err, "longer than the limit")
}

func TestNoServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	client := clientOf(t, openai.Config{BaseURL: "http://" + address + "/v1", APIKey: key})
	for _, err := range both(t, client) {
		require.ErrorIs(t, err, host.ErrUnavailable)
		assert.ErrorContains(t, err, "cannot reach "+address)
		_, ok := errors.AsType[*net.OpError](err)
		assert.True(t, ok, "the cause can be reached where it holds no secret")
	}
}

func TestNoRedirectIsFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, api := range bothAPIs {
			other := serverOf(t, openaitest.Reply{Text: "stolen"})
			same := serverOf(t)
			elsewhere := openaitest.Status(status, http.Header{"Location": {other.URL + "/chat/completions"}}, "")
			same.Add(elsewhere, elsewhere)
			for _, err := range both(t, clientOf(t, openai.Config{BaseURL: same.URL, API: api, APIKey: key})) {
				require.ErrorIs(t, err, host.ErrBadReply)
				assert.ErrorContains(t, err, "not followed")
			}
			assert.Empty(t, other.Requests())
		}
	}
}

func TestHeaderValuesStayOutOfErrors(t *testing.T) {
	server := serverOf(t, openaitest.Status(403, nil, `{"error":{"message":"token tok-987654321 and k%2Fey+x"}}`))
	client := clientOf(t, openai.Config{BaseURL: server.URL, APIKey: "k/ey+x", Headers: http.Header{"Authorization": {"Token tok-987654321"}}})
	_, err := client.Complete(t.Context(), hello())
	require.ErrorIs(t, err, host.ErrAuthentication)
	assert.NotContains(t, everything(err), "tok-987654321")
	assert.Equal(t, "Token tok-987654321", server.Requests()[0].Header.Get("Authorization"), "a header of the config goes before the key")
}

func TestNothingPrintsTheKey(t *testing.T) {
	server := serverOf(t)
	config := openai.Config{Model: "m", BaseURL: server.URL, APIKey: key, Headers: http.Header{"X-Token": {key + "-2"}}}
	client := clientOf(t, config)
	var b bytes.Buffer
	for _, v := range []any{config, &config, client, *client, struct{ c openai.Client }{*client}, struct{ c *openai.Client }{client}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
			fmt.Fprintf(&b, verb+"\n", v)
		}
		for _, h := range []slog.Handler{slog.NewTextHandler(&b, nil), slog.NewJSONHandler(&b, nil)} {
			slog.New(h).Info("x", "value", v, slog.Any("in", struct{ V any }{v}))
		}
	}
	assert.NotContains(t, b.String(), key)
	assert.NotContains(t, b.String(), fmt.Sprintf("%x", key))
	assert.Contains(t, b.String(), server.URL)
}

func TestDeadlinesAndCancelling(t *testing.T) {
	for _, api := range bothAPIs {
		arrived, gone := make(chan struct{}, 2), make(chan struct{}, 2)
		client := handled(t, openai.Config{API: api}, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			arrived <- struct{}{}
			<-r.Context().Done()
			gone <- struct{}{}
		})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-arrived; cancel() }()
		_, err := client.Complete(ctx, hello())
		require.ErrorIs(t, err, context.Canceled)
		_, ok := errors.AsType[*host.ModelError](err)
		assert.False(t, ok, "the service did nothing wrong")
		<-gone

		ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, err = streamed(ctx, client, hello())
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, host.ErrTimeout)
		<-gone
		<-arrived

		ctx, cancel = context.WithCancel(t.Context())
		cancel()
		_, err = client.Complete(ctx, hello())
		require.ErrorIs(t, err, context.Canceled)
	}
}
