package pdk

import (
	"slices"

	"github.com/weft-run/weft/pdk/go/internal/extism"
	"github.com/weft-run/weft/pdk/go/json"
)

// HTTPRequest is a request to a granted origin.
type HTTPRequest struct {
	// Method is GET where it is empty.
	Method string
	URL    string
	// Headers have one value each. {{secret.NAME}} in a value becomes the secret of that name on the way out, where the
	// grant of the origin lists it: the plugin never sees it.
	Headers map[string]string
	// Body is sent as it is; nil for none.
	Body []byte
}

// HTTPResponse is what a server answered.
type HTTPResponse struct {
	Status int
	// Headers are by lower-case name; several values of one name are joined with commas.
	Headers map[string]string
	Body    string
}

// HTTP sends a request and returns the answer, whatever its status. Right: http, with the origin. Where the request is not
// granted, or gets no answer, the host stops the hook there and then, and no Go code can catch it; one that lets the hook
// go on without an answer makes it an error with [CodeUnavailable].
func HTTP(request HTTPRequest) (HTTPResponse, error) {
	question.Reset()
	question.Object(func() {
		writeOptional(&question, "method", request.Method)
		question.Name("url").String(request.URL)
		if len(request.Headers) > 0 {
			question.Name("headers").Object(func() { writeHeaders(&question, request.Headers) })
		}
	})
	var response HTTPResponse
	var headers string
	response.Status, headers, response.Body = extism.HTTP(question.Bytes(), request.Body)
	if response.Status == 0 {
		return HTTPResponse{}, NewError(CodeUnavailable, request.URL+" gave no answer")
	}
	response.Headers = map[string]string{}
	if headers != "" {
		r := json.NewReader(headers)
		for name := range r.Object() {
			response.Headers[name] = r.String()
		}
		ended("headers", r)
	}
	return response, nil
}

// writeHeaders writes headers in a fixed order, so that the same request gives the same bytes.
func writeHeaders(w *json.Writer, headers map[string]string) {
	names := make([]string, 0, len(headers))
	for name := range headers {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		w.Name(name).String(headers[name])
	}
}
