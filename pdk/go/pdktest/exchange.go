package pdktest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-run/weft/pdk/go"
)

// functionHTTP is what requests are called in golden files, among the functions of the host.
const functionHTTP = "http"

// exchange is one thing that a hook asks the host for, and what it gets: a pair of sections.
type exchange struct {
	function        string
	request, answer *section
}

// complains is the part of a *testing.T that is needed here.
type complains interface {
	Helper()
	Errorf(format string, args ...any)
}

// recorded plays the host for one call: it gives the answers of a file in their order, and holds what is asked for against
// the requests there, or with -update writes those.
type recorded struct {
	t    complains
	path string
	left []exchange
}

// host is the host for one call. Where the file has no answers for it, fallback answers.
func (r *recorded) host(fallback *Host) *Host {
	if len(r.left) == 0 {
		return fallback
	}
	h := &Host{Functions: maps.Clone(fallback.Functions), HTTP: r.http}
	if h.Functions == nil {
		h.Functions = map[string]func(string) string{}
	}
	for _, e := range r.left {
		if e.function != functionHTTP {
			h.Functions[e.function] = func(input string) string { return string(r.next(e.function, input)) }
		}
	}
	return h
}

// next is the answer to what is asked for now.
func (r *recorded) next(function, request string) []byte {
	r.t.Helper()
	if len(r.left) == 0 || r.left[0].function != function {
		r.t.Errorf("%s: there is no section %s/request at this place; the hook asks\n%s", r.path, function, request)
		return nil
	}
	e := r.left[0]
	r.left = r.left[1:]
	request = readable(request)
	if *update {
		e.request.data = []byte(request + "\n")
	} else if want := readable(string(e.request.data)); want != request {
		r.t.Errorf("%s: %s is asked for something else; run the test with -update if it should\nwant %s\nhave %s",
			r.path, function, want, request)
	}
	return e.answer.data
}

// http answers a request.
func (r *recorded) http(request pdk.HTTPRequest) pdk.HTTPResponse {
	r.t.Helper()
	answer := r.next(functionHTTP, requestText(request))
	response, err := parseAnswer(answer)
	if err != nil && answer != nil {
		r.t.Errorf("%s: %v", r.path, err)
	}
	return response
}

// end complains of what was not asked for.
func (r *recorded) end() {
	r.t.Helper()
	for _, e := range r.left {
		r.t.Errorf("%s: the hook does not ask for what stands in a section %s/request", r.path, e.function)
	}
}

// requestText is a request as it stands in a golden file.
func requestText(request pdk.HTTPRequest) string {
	var b strings.Builder
	method := request.Method
	if method == "" {
		method = "GET"
	}
	b.WriteString(method + " " + request.URL + "\n")
	headers := map[string]string{}
	for name, value := range request.Headers {
		headers[textproto.CanonicalMIMEHeaderKey(name)] = value
	}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		b.WriteString(name + ": " + headers[name] + "\n")
	}
	if len(request.Body) > 0 {
		b.WriteString("\n" + string(request.Body))
	}
	return b.String()
}

// parseAnswer reads an answer: the status in the first line, headers, and behind an empty line the body.
func parseAnswer(text []byte) (pdk.HTTPResponse, error) {
	head, body, _ := bytes.Cut(text, []byte("\n\n"))
	lines := strings.Split(strings.TrimSpace(string(head)), "\n")
	status, err := strconv.Atoi(lines[0])
	if err != nil {
		return pdk.HTTPResponse{}, fmt.Errorf("an answer begins with %q; a status was wanted, such as 200", lines[0])
	}
	response := pdk.HTTPResponse{Status: status, Headers: map[string]string{}, Body: string(bytes.TrimSuffix(body, []byte("\n")))}
	for _, line := range lines[1:] {
		name, value, ok := strings.Cut(line, ": ")
		if !ok {
			return pdk.HTTPResponse{}, fmt.Errorf("an answer has the line %q; a header was wanted, or an empty line", line)
		}
		response.Headers[strings.ToLower(name)] = value
	}
	return response, nil
}

// readable is a request with the JSON in it indented, so that white space makes no difference.
func readable(text string) string {
	text = strings.TrimSpace(text)
	head, body, ok := strings.Cut(text, "\n\n")
	if !ok {
		head, body = "", text
	}
	var b bytes.Buffer
	if json.Indent(&b, []byte(body), "", "  ") != nil {
		return text
	}
	if ok {
		return head + "\n\n" + b.String()
	}
	return b.String()
}
