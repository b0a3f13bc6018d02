package openai_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/model/openai"
	"github.com/weft-run/weft/host/model/openai/openaitest"
)

func TestEmbed(t *testing.T) {
	server := serverOf(t,
		openaitest.Reply{Vectors: [][]float32{{1, 0}, {0, 1}, {0.5, -0.25}}, Usage: &openaitest.Usage{Input: 7}},
		openaitest.Reply{Vectors: [][]float32{{3}}},
	)
	for _, api := range bothAPIs { // the endpoint is the same
		client := clientOf(t, openai.Config{BaseURL: server.URL, APIKey: key, API: api, EmbeddingModel: "small"})
		if api == openai.ChatCompletions {
			r, err := client.Embed(t.Context(), &host.EmbedRequest{Texts: []string{"a", "b", "ü"}})
			require.NoError(t, err)
			require.Equal(t, &host.EmbedResponse{
				Vectors: [][]float32{{1, 0}, {0, 1}, {0.5, -0.25}}, Model: "small", Usage: &host.Usage{InputTokens: 7},
			}, r, "each vector in the place of its text, though the last came first")
			continue
		}
		r, err := client.Embed(t.Context(), &host.EmbedRequest{Texts: []string{"a"}, Model: "large"})
		require.NoError(t, err)
		require.Equal(t, &host.EmbedResponse{Vectors: [][]float32{{3}}, Model: "large"}, r)
	}
	requests := server.Requests()
	require.Len(t, requests, 2)
	require.Equal(t, "/v1/embeddings", requests[0].Path)
	require.Equal(t, "Bearer "+key, requests[0].Header.Get("Authorization"))
	require.JSONEq(t, `{"input":["a","b","ü"],"model":"small","encoding_format":"float"}`, string(requests[0].Body))
	require.JSONEq(t, `{"input":["a"],"model":"large","encoding_format":"float"}`, string(requests[1].Body))
}

func TestEmbeddingNothingSendsNothing(t *testing.T) {
	server := serverOf(t)
	client := clientOf(t, openai.Config{BaseURL: server.URL})
	for _, request := range []*host.EmbedRequest{nil, {}, {Model: "x"}} {
		r, err := client.Embed(t.Context(), request)
		require.NoError(t, err)
		require.Empty(t, r.Vectors)
	}
	_, err := client.Embed(t.Context(), &host.EmbedRequest{Texts: []string{"a", "", "b\xff"}})
	require.ErrorIs(t, err, host.ErrInvalidRequest)
	for _, want := range []string{"no model is named: set EmbeddingModel", "texts/1 is empty", "texts/2 is not valid UTF-8"} {
		require.ErrorContains(t, err, want)
	}
	require.Empty(t, server.Requests())
}

func TestManyTextsGoInSeveralRequests(t *testing.T) {
	var asked []int
	client := handled(t, openai.Config{}, func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Input []string `json:"input"`
		}
		assert.NoError(t, json.UnmarshalRead(r.Body, &body))
		asked = append(asked, len(body.Input))
		var data []string
		for i, text := range body.Input {
			data = append(data, fmt.Sprintf(`{"index":%d,"embedding":[%s]}`, i, text))
		}
		_, _ = fmt.Fprintf(w, `{"data":[%s],"usage":{"prompt_tokens":%d}}`, strings.Join(data, ","), len(data))
	})
	texts := make([]string, 5000)
	for i := range texts {
		texts[i] = fmt.Sprint(i)
	}
	r, err := client.Embed(t.Context(), &host.EmbedRequest{Texts: texts, Model: "m"})
	require.NoError(t, err)
	require.Equal(t, []int{2048, 2048, 904}, asked)
	require.Equal(t, 5000, r.Usage.InputTokens)
	for i, v := range r.Vectors {
		require.Equal(t, []float32{float32(i)}, v)
	}
}

func TestAnswersWithVectorsThatDoNotFitAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"too few":               {`{"data":[{"index":0,"embedding":[1]}]}`, "it has 1 vectors for 2 texts"},
		"none":                  {`{"data":[]}`, "it has 0 vectors for 2 texts"},
		"too many":              {`{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1]},{"index":2,"embedding":[1]}]}`, "it has 3 vectors for 2 texts"},
		"nothing":               {`{}`, "it has 0 vectors"},
		"an index twice":        {`{"data":[{"index":1,"embedding":[1]},{"index":1,"embedding":[2]}]}`, "data/1: the index 1 stands there twice"},
		"an index beyond":       {`{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[2]}]}`, "data/1: the index 2"},
		"an index below":        {`{"data":[{"index":-1,"embedding":[1]},{"index":0,"embedding":[2]}]}`, "data/0: the index -1"},
		"a huge index":          {`{"data":[{"index":99999999999999999999,"embedding":[1]},{"index":0,"embedding":[2]}]}`, "cannot be read"},
		"an index and none":     {`{"data":[{"index":0,"embedding":[1]},{"embedding":[2]}]}`, "some of its vectors have an index"},
		"unequal lengths":       {`{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`, "data/1: its vector has 2 numbers, and the first one has 1"},
		"empty vectors":         {`{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]}`, "more than none"},
		"null for a vector":     {`{"data":[{"index":0,"embedding":null},{"index":1,"embedding":null}]}`, "more than none"},
		"base64":                {`{"data":[{"index":0,"embedding":"AACAPw=="},{"index":1,"embedding":"AACAPw=="}]}`, "cannot be read"},
		"NaN":                   {`{"data":[{"index":0,"embedding":[NaN]},{"index":1,"embedding":[1]}]}`, "cannot be read"},
		"a number without end":  {`{"data":[{"index":0,"embedding":[1e999]},{"index":1,"embedding":[1]}]}`, "cannot be read"},
		"a number too large":    {`{"data":[{"index":0,"embedding":[1e300]},{"index":1,"embedding":[1]}]}`, "cannot be read"},
		"text for a number":     {`{"data":[{"index":0,"embedding":["1"]},{"index":1,"embedding":[1]}]}`, "cannot be read"},
		"an error in it":        {`{"error":{"message":"quota ` + key + `","code":"rate_limit_exceeded"}}`, "quota [hidden]"},
		"half of it":            {`{"data":[{"index":0,"embedding":[1]},{"index":1,`, "cannot be read"},
		"a name twice":          {`{"data":[],"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1]}]}`, "duplicate"},
		"more than the limit":   {`{"data":[{"index":0,"embedding":[` + strings.Repeat("0,", 1<<15) + `0]}]}`, "raise MaxResponseBytes"},
		"a page of another one": {`<html>`, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			server := serverOf(t, openaitest.Body("application/json", c.body, 0))
			client := clientOf(t, openai.Config{BaseURL: server.URL, APIKey: key, EmbeddingModel: "m", MaxResponseBytes: 1 << 15})
			r, err := client.Embed(t.Context(), &host.EmbedRequest{Texts: []string{"a", "b"}})
			require.Nil(t, r)
			require.ErrorContains(t, err, c.want)
			failure := modelError(t, err)
			if name == "an error in it" {
				require.ErrorIs(t, failure, host.ErrRateLimited)
			} else {
				require.ErrorIs(t, failure, host.ErrBadReply)
			}
			require.NotContains(t, everything(err), key)
		})
	}
}

func TestVectorsWithoutAnIndexStandInTheOrderOfTheTexts(t *testing.T) {
	server := serverOf(t, openaitest.Body("application/json", `{"data":[{"embedding":[1]},{"embedding":[2]}],"usage":{"prompt_tokens":-5}}`, 0))
	r, err := clientOf(t, openai.Config{BaseURL: server.URL}).Embed(t.Context(), &host.EmbedRequest{Texts: []string{"a", "b"}, Model: "m"})
	require.NoError(t, err)
	require.Equal(t, [][]float32{{1}, {2}}, r.Vectors)
	require.Equal(t, &host.Usage{}, r.Usage)
}

func TestRequestsOfManyTextsMustHaveVectorsOfOneLength(t *testing.T) {
	calls := 0
	client := handled(t, openai.Config{}, func(w http.ResponseWriter, _ *http.Request) {
		calls++
		n, vector := 2048, "[1]"
		if calls == 2 {
			n, vector = 1, "[1,2]"
		}
		_, _ = fmt.Fprintf(w, `{"data":[%s]}`, strings.TrimSuffix(strings.Repeat(`{"embedding":`+vector+`},`, n), ","))
	})
	texts := make([]string, 2049)
	for i := range texts {
		texts[i] = "a"
	}
	_, err := client.Embed(t.Context(), &host.EmbedRequest{Texts: texts, Model: "m"})
	require.ErrorIs(t, err, host.ErrBadReply)
	require.ErrorContains(t, err, "its vectors have 2 numbers, and those of the request before had 1")
}

func TestErrorsOfTheEmbeddingService(t *testing.T) {
	server := serverOf(t, openaitest.Status(429, http.Header{"Retry-After": {"3"}}, `{"error":{"message":"slow down"}}`))
	client := clientOf(t, openai.Config{BaseURL: server.URL, EmbeddingModel: "m"})
	_, err := client.Embed(t.Context(), &host.EmbedRequest{Texts: []string{"a"}})
	failure := modelError(t, err)
	require.ErrorIs(t, failure, host.ErrRateLimited)
	require.InDelta(t, 3, failure.RetryAfter.Seconds(), 0.1)
	require.Len(t, server.Requests(), 1, "nothing is tried again")

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	waiting := handled(t, openai.Config{EmbeddingModel: "m"}, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then the server notices that the client is gone
		cancel()
		<-r.Context().Done()
	})
	_, err = waiting.Embed(ctx, &host.EmbedRequest{Texts: []string{"a"}})
	require.ErrorIs(t, err, context.Canceled)
}
