package web

import (
	"strconv"
	"strings"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

// Request is a request to a service that answers with JSON.
type Request struct {
	// Service is what errors call the service, such as "Example Search".
	Service string
	// Method is GET where it is empty.
	Method string
	URL    string
	// Headers are sent beside Accept and Content-Type, which are those of JSON. See [pdk.HTTPRequest] for secrets.
	Headers map[string]string
	// Body is any JSON; empty for none.
	Body json.Raw
	// Remedies say what to do about a status, in the words of the plugin's config. They end the error.
	Remedies map[int]string
}

// Read sends the request and reads the answer into v. Right: http, with the origin of the URL.
//
// The error is a [*pdk.Error]. Its code follows from the status: [pdk.CodeDenied] for 401 to 403, [pdk.CodeNotFound] for
// 404 and 410, [pdk.CodeTimeout] for 408, [pdk.CodeConflict] for 409, [pdk.CodeLimit] for 429, [pdk.CodeInvalidInput] for
// what else begins with 4, and [pdk.CodeUnavailable] for everything but success, and for an answer that v cannot be read
// from. The message has the status, what the service says, and when it takes requests again. Where the request is not
// granted or gets no answer, the host ends the hook; see [pdk.HTTP].
func (q Request) Read(v json.Readable) error {
	headers := map[string]string{"Accept": "application/json"}
	var body []byte
	if q.Body != "" {
		headers["Content-Type"] = "application/json"
		body = []byte(q.Body)
	}
	for name, value := range q.Headers {
		headers[name] = value
	}
	response, err := pdk.HTTP(pdk.HTTPRequest{Method: q.Method, URL: q.URL, Headers: headers, Body: body})
	if err != nil {
		return err
	}
	if response.Status < 200 || response.Status > 299 {
		return q.failed(response)
	}
	if err := json.Unmarshal(response.Body, v); err != nil {
		return pdk.NewError(pdk.CodeUnavailable, q.Service+" answered "+strconv.Itoa(response.Status)+
			" with something that is not in its format: "+err.Error()+beginning(response.Body))
	}
	return nil
}

// beginning shows how an answer begins that is not what was wanted: a page of HTML, as a rule.
func beginning(body string) string {
	const most = 40
	if body == "" {
		return "; the answer is empty"
	}
	if strings.IndexByte(`{["`, body[0]) >= 0 {
		return ""
	}
	return "; the answer begins with " + strconv.Quote(Line(body[:min(len(body), 4*most)], most))
}

// failed is the error of an answer without success.
func (q Request) failed(response pdk.HTTPResponse) error {
	status := response.Status
	message := q.Service + " answered " + strconv.Itoa(status)
	if name := statusNames[status]; name != "" {
		message += " " + name
	}
	if says := reason(response.Body); says != "" {
		message += ", and says " + strconv.Quote(says)
	}
	if after := Line(response.Headers["retry-after"], 40); after != "" {
		message += "; it takes requests again after " + after
		if _, err := strconv.Atoi(after); err == nil {
			message += " s"
		}
	}
	if remedy := q.Remedies[status]; remedy != "" {
		message += ": " + remedy
	}
	return pdk.NewError(codeOf(status), message)
}

func codeOf(status int) pdk.Code {
	switch status {
	case 401, 402, 403:
		return pdk.CodeDenied
	case 404, 410:
		return pdk.CodeNotFound
	case 408:
		return pdk.CodeTimeout
	case 409:
		return pdk.CodeConflict
	case 429:
		return pdk.CodeLimit
	}
	if status >= 400 && status <= 499 {
		return pdk.CodeInvalidInput
	}
	return pdk.CodeUnavailable
}

var statusNames = map[int]string{
	400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
	405: "Method Not Allowed", 408: "Request Timeout", 409: "Conflict", 410: "Gone", 413: "Content Too Large",
	414: "URI Too Long", 422: "Unprocessable Content", 429: "Too Many Requests", 500: "Internal Server Error",
	502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
}
