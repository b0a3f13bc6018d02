package openai_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/model/openai"
)

// Servers say in many ways that an answer failed half-way. None of them is the end of a whole one.
func TestErrorsInsideStreams(t *testing.T) {
	for name, after := range map[string]string{
		"an event called error":  "event: error\ndata: {\"message\":\"boom\"}\n\n",
		"an event without JSON":  "event: error\ndata: boom\n\n",
		"a list of errors":       "data: {\"error\":[{\"message\":\"boom\"}]}\n\n",
		"an error that is true":  "data: {\"error\":true}\n\n",
		"an object called error": "data: {\"object\":\"error\",\"message\":\"boom\",\"code\":500}\n\n",
	} {
		client := handled(t, openai.Config{API: openai.ChatCompletions}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, piece(openai.ChatCompletions, "half an ")+after+"data: [DONE]\n\n")
		})
		var last error
		for _, err := range client.Stream(t.Context(), &host.ChatRequest{Messages: host.Text("hi")}) {
			last = err
		}
		var failure *host.ModelError
		require.ErrorAs(t, last, &failure, name)
	}
}

func TestTheKeyIsTakenOutBeforeATextIsCut(t *testing.T) {
	client := handled(t, openai.Config{APIKey: key, API: openai.ChatCompletions}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, strings.Repeat("x", 180), key)
	})
	_, err := client.Complete(t.Context(), &host.ChatRequest{Messages: host.Text("hi")})
	require.ErrorIs(t, err, host.ErrBadReply)
	require.NotContains(t, err.Error(), key[:8])
}
