package openai_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/model/openai"
	"github.com/weft-run/weft/host/model/openai/openaitest"
)

func gzipOf(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(data)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

// piece is an event that says a text.
func piece(api openai.API, text string) string {
	if api == openai.Responses {
		return fmt.Sprintf("event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"m\",\"delta\":%q}\n\n", text)
	}
	return fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", text)
}

// TestStreamsThatBreak: each is an error, after what came.
func TestStreamsThatBreak(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
	for _, api := range bothAPIs {
		good := piece(api, "one ")
		for _, c := range []struct{ name, answer, want string }{
			{"closed without an end", head + "Connection: close\r\n\r\n" + good, "ended before it said so"},
			{"cut in an event", head + "Connection: close\r\n\r\n" + good + good[:len(good)-5], "ended before it said so"},
			{"cut in a chunk", head + "Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\nff\r\nda", len(good), good), "broke off"},
			{"shorter than it says", head + "Content-Length: 5000\r\n\r\n" + good, "broke off"},
			{"no chunk size", head + "Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\nzzz\r\n", len(good), good), "broke off"},
			{"no JSON", head + "Connection: close\r\n\r\n" + good + "data: {oops}\n\n", "cannot be read"},
			{"JSON in halves", head + "Connection: close\r\n\r\n" + good + "data: {\"choices\":\n\ndata: []}\n\n", "cannot be read"},
			{"invalid UTF-8", head + "Connection: close\r\n\r\n" + good + "data: {\"id\":\"\xff\"}\n\n", "UTF-8"},
			{"another type", head + "Connection: close\r\n\r\n" + good + "data: {\"choices\":7,\"response\":7}\n\n", "cannot be read"},
			{"no event stream at all", head + "Connection: close\r\n\r\n" + good + "hello\nworld\n\n", "ended before it said so"},
		} {
			t.Run(string(api)+"/"+c.name, func(t *testing.T) {
				updates, err := streamed(t.Context(), rawly(t, openai.Config{API: api}, c.answer), hello())
				require.ErrorIs(t, err, host.ErrBadReply)
				assert.ErrorContains(t, err, c.want)
				require.NotEmpty(t, updates)
				assert.Equal(t, "one ", updates[0].Text())
				for _, u := range updates {
					assert.Empty(t, u.FinishReason)
				}
			})
		}
	}
}

func TestAnAnswerThatBreaksOff(t *testing.T) {
	client := rawly(t, openai.Config{}, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{\"choices\":[")
	_, err := client.Complete(t.Context(), hello())
	require.ErrorIs(t, err, host.ErrBadReply)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	client = rawly(t, openai.Config{}, "SSH-2.0-OpenSSH\r\n")
	_, err = client.Complete(t.Context(), hello())
	require.ErrorIs(t, err, host.ErrUnavailable)
}

// slowly is a client whose server sends a piece for each value on next, and tells when a request is gone.
func slowly(t *testing.T, api openai.API) (client *openai.Client, next chan string, gone chan struct{}) {
	t.Helper()
	next, gone = make(chan string), make(chan struct{})
	client = handled(t, openai.Config{API: api}, func(w http.ResponseWriter, r *http.Request) {
		defer close(gone)
		_, _ = io.Copy(io.Discard, r.Body) // the server only then sees that the client is gone
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			select {
			case text := <-next:
				_, _ = io.WriteString(w, piece(api, text))
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				return
			}
		}
	})
	return client, next, gone
}

// TestEachPieceArrivesAtOnce: the second is only sent when the first was seen.
func TestEachPieceArrivesAtOnce(t *testing.T) {
	for _, api := range bothAPIs {
		client, next, gone := slowly(t, api)
		seen := 0
		go func() { next <- "a" }()
		for u, err := range client.Stream(t.Context(), hello()) {
			require.NoError(t, err)
			require.Equal(t, "a", u.Text())
			if seen++; seen == 3 {
				break
			}
			go func() { next <- "a" }()
		}
		<-gone
	}
}

// TestAConsumerThatStops is not yielded to again, and its connection is closed.
func TestAConsumerThatStops(t *testing.T) {
	for _, api := range bothAPIs {
		client, next, gone := slowly(t, api)
		go func() { next <- "a" }()
		calls := 0
		client.Stream(t.Context(), hello())(func(*host.Update, error) bool {
			calls++
			return false
		})
		<-gone
		assert.Equal(t, 1, calls)
		for stopAt := range 6 { // at each update of a whole answer
			server := serverOf(t, openaitest.Reply{Text: "a b c", Calls: []openaitest.Call{{ID: "x", Name: "f"}}})
			calls := 0
			clientOf(t, openai.Config{BaseURL: server.URL, API: api}).Stream(t.Context(), hello())(func(*host.Update, error) bool {
				calls++
				return calls <= stopAt
			})
			assert.LessOrEqual(t, calls, stopAt+1)
		}
	}
}

// TestCancelling at an update, and while nothing comes.
func TestCancelling(t *testing.T) {
	for _, api := range bothAPIs {
		client, next, gone := slowly(t, api)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { next <- "a" }()
		var last error
		after := 0
		for _, err := range client.Stream(ctx, hello()) {
			if last = err; ctx.Err() != nil {
				after++
			}
			cancel()
		}
		require.ErrorIs(t, last, context.Canceled)
		assert.Equal(t, 1, after, "only the error follows")
		<-gone

		client, next, gone = slowly(t, api)
		ctx, cancel = context.WithCancel(t.Context())
		go func() {
			next <- "a"
			cancel() // the next piece never comes
		}()
		for _, err := range client.Stream(ctx, hello()) {
			last = err
		}
		require.ErrorIs(t, last, context.Canceled)
		<-gone
		cancel()
	}
}

// TestCancellingBetweenPiecesThatAreThere: what has arrived already does not follow either.
func TestCancellingBetweenPiecesThatAreThere(t *testing.T) {
	for _, api := range bothAPIs {
		server := serverOf(t, openaitest.Body("text/event-stream", strings.Repeat(piece(api, "a"), 100), 0))
		ctx, cancel := context.WithCancel(t.Context())
		var updates int
		var last error
		for u, err := range clientOf(t, openai.Config{BaseURL: server.URL, API: api}).Stream(ctx, hello()) {
			if last = err; u != nil {
				updates++
			}
			cancel()
		}
		cancel()
		require.ErrorIs(t, last, context.Canceled)
		assert.Equal(t, 1, updates)
	}
}

// TestAStreamIsReadAgain: each reading is a call of its own.
func TestAStreamIsReadAgain(t *testing.T) {
	server := serverOf(t, openaitest.Reply{Text: "one"}, openaitest.Reply{Text: "two"})
	stream := clientOf(t, openai.Config{BaseURL: server.URL}).Stream(t.Context(), hello())
	assert.Empty(t, server.Requests(), "nothing happens until it is read")
	var b strings.Builder
	for range 2 {
		for u, err := range stream {
			require.NoError(t, err)
			b.WriteString(u.Text())
		}
	}
	assert.Equal(t, "onetwo", b.String())
}
