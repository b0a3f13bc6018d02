package egress_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/egress"
)

// reading is an internet with one site and a policy for it.
func reading(t *testing.T, p egress.Policy, handler http.HandlerFunc) (*egress.Client, *site) {
	t.Helper()
	net := newInternet(t)
	net.name("a.test", publicIP)
	s := net.serve(publicIP+":80", handler)
	p.Rules = rules("http://a.test")
	return net.client(p), s
}

func zipped(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	require.NoError(t, err)
	_, err = w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func encoded(coding string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", coding)
		_, _ = w.Write(body)
	}
}

// bodyLimit asserts that an error is the limit on bodies.
func bodyLimit(t *testing.T, err error, value string) {
	t.Helper()
	var limit *egress.LimitError
	require.ErrorAs(t, err, &limit)
	require.Equal(t, egress.LimitError{Origin: "http://a.test", Limit: "HTTP body", Value: value, Option: "limits.http_body"}, *limit)
	require.EqualError(t, err, "the answer of http://a.test has more than "+value+", decompressed: raise limits.http_body, or ask for less")
}

func TestAGzippedBodyIsDecompressed(t *testing.T) {
	for _, coding := range []string{"gzip", "x-gzip", "GZIP"} {
		c, s := reading(t, egress.Policy{}, encoded(coding, zipped(t, []byte("some text"))))
		a := mustGet(t, c, "http://a.test/")
		require.Equal(t, "some text", a.text)
		require.NotContains(t, a.Header, "Content-Encoding")
		require.NotContains(t, a.Header, "Content-Length", "it would be that of something else")
		require.EqualValues(t, -1, a.ContentLength)
		require.Equal(t, "gzip", s.seen()[0].Header.Get("Accept-Encoding"))
	}
}

func TestAGzippedBodyIsSearchedForSecretsDecompressed(t *testing.T) {
	c, _, _, _ := keeper(t, encoded("gzip", zipped(t, []byte("<"+apiKey+">"))))
	require.Equal(t, "<[hidden]>", mustGet(t, c, "http://a.test/").text)
}

func TestABodyInAnEncodingThatNobodyAskedForIsAnError(t *testing.T) {
	for _, coding := range []string{"br", "deflate", "zstd", "gzip, gzip", "gzip,br"} {
		c, _ := reading(t, egress.Policy{}, encoded(coding, []byte("x")))
		_, err := get(t, c, "http://a.test/", "Accept-Encoding", coding)
		require.ErrorContains(t, err, "the answer of http://a.test is encoded as "+strconv.Quote(strings.ReplaceAll(coding, ", ", ", "))+", and only gzip was asked for")
	}
}

func TestAnEmptyBodyIsEmptyWhateverItsEncoding(t *testing.T) {
	c, _ := reading(t, egress.Policy{}, encoded("gzip", nil))
	require.Empty(t, mustGet(t, c, "http://a.test/").text)
	a, err := send(t, c, newRequest(t, http.MethodHead, "http://a.test/", ""))
	require.NoError(t, err)
	require.Empty(t, a.text)
	c, _ = reading(t, egress.Policy{}, encoded("br", nil))
	_, err = send(t, c, newRequest(t, http.MethodHead, "http://a.test/", ""))
	require.NoError(t, err, "nothing has to be decoded")

	c, _ = reading(t, egress.Policy{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.(http.Flusher).Flush() // So that nobody knows the length before.
	})
	require.Empty(t, mustGet(t, c, "http://a.test/").text)
}

func TestABrokenGzipIsAnError(t *testing.T) {
	whole := zipped(t, bytes.Repeat([]byte("some text "), 100))
	for name, body := range map[string][]byte{"no gzip": []byte("some text, plainly"), "head only": whole[:5], "cut off": whole[:len(whole)-9]} {
		c, _ := reading(t, egress.Policy{}, encoded("gzip", body))
		_, err := get(t, c, "http://a.test/")
		require.ErrorContains(t, err, "http://a.test: ", name)
	}
}

func TestABodyMayBeAsLargeAsItsLimit(t *testing.T) {
	for size, p := range map[int]egress.Policy{1 << 20: {}, 1000: {Body: 1000}} {
		body := bytes.Repeat([]byte("x"), size)
		for _, coding := range []string{"identity", "gzip"} {
			text := body
			if coding == "gzip" {
				text = zipped(t, body)
			}
			c, _ := reading(t, p, encoded(coding, text))
			require.Len(t, mustGet(t, c, "http://a.test/").text, size)
		}
	}
	c, _ := reading(t, egress.Policy{Body: -1}, encoded("gzip", zipped(t, make([]byte, 3<<20))))
	require.Len(t, mustGet(t, c, "http://a.test/").text, 3<<20, "a negative limit is none")
}

func TestABodyLargerThanItsLimitIsAnError(t *testing.T) {
	c, _ := reading(t, egress.Policy{Body: 1000}, says(strings.Repeat("x", 1001)))
	a, err := get(t, c, "http://a.test/")
	bodyLimit(t, err, "1000 bytes")
	require.Len(t, a.text, 1000)
}

func TestAGzipBombIsAnError(t *testing.T) {
	c, _ := reading(t, egress.Policy{}, encoded("gzip", zipped(t, make([]byte, 64<<20))))
	a, err := get(t, c, "http://a.test/")
	bodyLimit(t, err, "1.0 MiB")
	require.Len(t, a.text, 1<<20, "no more than that was decompressed")
}

func TestAGzipThatDecompressesToNothingWithoutEndIsAnError(t *testing.T) {
	empty := bytes.Repeat(zipped(t, nil), 1000)
	c, _ := reading(t, egress.Policy{Body: 1000}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		for err := error(nil); err == nil; {
			_, err = w.Write(empty)
		}
	})
	_, err := get(t, c, "http://a.test/")
	bodyLimit(t, err, "1000 bytes")
}

func TestABodyWithoutEndIsAnError(t *testing.T) {
	stopped := make(chan struct{})
	c, _ := reading(t, egress.Policy{}, func(w http.ResponseWriter, _ *http.Request) {
		defer close(stopped)
		for err := error(nil); err == nil; {
			_, err = w.Write(make([]byte, 64<<10))
		}
	})
	_, err := get(t, c, "http://a.test/")
	bodyLimit(t, err, "1.0 MiB")
	<-stopped // The connection is closed with the body.
}

func TestABodyIsNotReadFurtherThanItsReaderWants(t *testing.T) {
	c, _ := reading(t, egress.Policy{Body: -1}, func(w http.ResponseWriter, _ *http.Request) {
		for err := error(nil); err == nil; {
			_, err = w.Write(make([]byte, 64<<10))
		}
	})
	response, err := c.Do(newRequest(t, http.MethodGet, "http://a.test/", ""))
	require.NoError(t, err)
	n, err := io.CopyN(io.Discard, response.Body, 5<<20)
	require.NoError(t, err)
	require.EqualValues(t, 5<<20, n)
	require.NoError(t, response.Body.Close())
}

func TestABodyThatIsCutOffIsAnError(t *testing.T) {
	c, _ := reading(t, egress.Policy{}, raw(func(*http.Request) string { return "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort" }))
	a, err := get(t, c, "http://a.test/")
	require.EqualError(t, err, "http://a.test: unexpected EOF")
	require.True(t, errors.Is(err, io.ErrUnexpectedEOF))
	require.Equal(t, "short", a.text)
}
