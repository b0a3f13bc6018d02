package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
)

// HTTPClient sends the requests that a guest makes with http_request. Which ones it sends is its business: the engine
// bounds their number, their time and their answers, and knows no hosts. *http.Client is one; it follows redirects and
// sends to anybody, so give that to nobody you do not trust.
type HTTPClient interface {
	// Do sends a request and returns the answer, whose body the engine reads and closes.
	Do(*http.Request) (*http.Response, error)
}

// requestLimit is the size of a request without its body, in bytes. What the host makes of it takes many times as much.
const requestLimit = 64 * kib

// exchange is what a call remembers of its HTTP requests.
type exchange struct {
	requests int
	status   int
	headers  map[string]string
}

// httpRequest is what a guest passes to http_request.
type httpRequest struct {
	URL     string            `json:"url"`
	Method  string            `json:"method"`
	Headers map[string]string `json:"headers"`
}

func envHTTPRequest(i *instance, stack []uint64) error {
	if i.module.spec.HTTP == nil {
		return refuse("http_request: this host sends no HTTP requests for its plugins")
	}
	limits := i.module.limits
	if i.http.requests++; exceeds(i.http.requests, limits.HTTPRequests) {
		return &hostFault{cause: i.module.limitError("HTTP requests", i.export, count(limits.HTTPRequests), "", "limits.http_requests")}
	}
	i.http.status, i.http.headers = 0, nil
	text, err := i.block("http_request", "a request", stack[0])
	if err != nil {
		return err
	}
	if len(text) > requestLimit {
		return refuse("http_request: the request has %s, and may have %s beside its body", size(int64(len(text))), size(requestLimit))
	}
	var request httpRequest
	if err := json.Unmarshal(text, &request); err != nil {
		return refuse("http_request: the request is not the JSON of one: %v", err)
	}
	var body []byte
	if stack[1] != 0 {
		if body, err = i.block("http_request", "a body", stack[1]); err != nil {
			return err
		}
		body = bytes.Clone(body)
	}
	var answer []byte
	if err := i.wait(func(ctx context.Context) (err error) {
		answer, err = i.send(ctx, request, body)
		return err
	}); err != nil {
		return err
	}
	stack[0] = 0
	return i.give(stack, "http_request", answer)
}

// send sends one request, and keeps status and headers of the answer.
func (i *instance) send(ctx context.Context, r httpRequest, body []byte) ([]byte, error) {
	limits := i.module.limits
	if limits.HTTPTime >= 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limits.HTTPTime,
			fmt.Errorf("no answer within %s: raise limits.http_time, or ask another server", limits.HTTPTime))
		defer cancel()
	}
	method := strings.ToUpper(or(r.Method, http.MethodGet))
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	request, err := http.NewRequestWithContext(ctx, method, r.URL, reader)
	if err != nil {
		return nil, refuse("http_request: %s", printable(err.Error()))
	}
	for name, value := range r.Headers {
		request.Header.Set(name, value)
	}
	response, err := i.module.spec.HTTP.Do(request)
	if err != nil {
		return nil, httpFailed(ctx, err)
	}
	defer func() { _ = response.Body.Close() }() // It was only read.
	from := io.Reader(response.Body)
	if limits.HTTPBody >= 0 {
		from = io.LimitReader(from, limits.HTTPBody+1)
	}
	answer, err := io.ReadAll(from)
	if err != nil {
		return nil, httpFailed(ctx, err)
	}
	if exceeds(int64(len(answer)), limits.HTTPBody) {
		return nil, i.module.limitError("HTTP body", i.export, size(limits.HTTPBody), "", "limits.http_body")
	}
	i.http.status = response.StatusCode
	i.http.headers = map[string]string{}
	for name, values := range response.Header {
		i.http.headers[strings.ToLower(name)] = strings.Join(values, ",")
	}
	return answer, nil
}

// httpFailed says why there is no answer. Time that is up is said in the words of this package.
func httpFailed(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = cause
	}
	return refuse("http_request: %s", printable(err.Error()))
}

func envHTTPStatusCode(i *instance, stack []uint64) error {
	stack[0] = uint64(i.http.status)
	return nil
}

func envHTTPHeaders(i *instance, stack []uint64) error {
	stack[0] = 0
	if i.http.headers == nil {
		return nil
	}
	text, err := json.Marshal(i.http.headers, json.Deterministic(true))
	if err != nil {
		return refuse("http_headers: %v", err)
	}
	return i.give(stack, "http_headers", text)
}
