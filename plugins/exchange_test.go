package plugins

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
)

// exchanges plays what a golden file says that a hook asks the host for, and gets: pairs of sections FUNCTION/request and
// FUNCTION/answer, in their order. It is an engine.HTTPClient.
type exchanges struct {
	t    *testing.T
	left []txtar.File
}

// next is the answer to what is asked for now.
func (e *exchanges) next(function, request string) ([]byte, error) {
	if len(e.left) < 2 || e.left[0].Name != function+"/request" || e.left[1].Name != function+"/answer" {
		return nil, fmt.Errorf("nothing of the kind stands in the file at this place: %s %s", function, request)
	}
	assert.Equal(e.t, withoutSpace(string(e.left[0].Data)), withoutSpace(request))
	answer := e.left[1].Data
	e.left = e.left[2:]
	return answer, nil
}

// withoutSpace leaves out what is there for readers.
func withoutSpace(text string) string { return strings.Join(strings.Fields(text), "") }

func (e *exchanges) function(name string) func(context.Context, []byte) ([]byte, error) {
	return func(_ context.Context, input []byte) ([]byte, error) { return e.next(name, string(input)) }
}

// Do answers a request.
func (e *exchanges) Do(r *http.Request) (*http.Response, error) {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s\n", r.Method, r.URL)
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		fmt.Fprintf(&text, "%s: %s\n", name, r.Header.Get(name))
	}
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		text.Write(body)
	}
	answer, err := e.next("http", text.String())
	if err != nil {
		return nil, err
	}
	head, body, _ := strings.Cut(string(answer), "\n\n")
	lines := strings.Split(strings.TrimSpace(head), "\n")
	status, err := strconv.Atoi(lines[0])
	if err != nil {
		return nil, err
	}
	header := http.Header{}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		header.Set(name, value)
	}
	return &http.Response{
		StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(strings.TrimSuffix(body, "\n"))),
		Request: &http.Request{URL: &url.URL{}},
	}, nil
}
