package pdktest

import (
	"bytes"
	"io"
	"net/http"
	"strings"

	"github.com/weft-run/weft/pdk/go"
)

// maxBody is how large an answer may be by default, as on a host.
const maxBody = 1 << 20

// Through sends the requests of a hook through a client, for tests with a server of their own:
//
//	host := pdktest.Host{HTTP: pdktest.Through(server.Client())}
//
// What fails, and a body of more than 1 MiB, is no answer. Unlike a host it has no grants and no secrets: whoever is asked
// gets the request as the plugin wrote it.
func Through(client *http.Client) func(pdk.HTTPRequest) pdk.HTTPResponse {
	return func(r pdk.HTTPRequest) pdk.HTTPResponse {
		request, err := http.NewRequest(r.Method, r.URL, bytes.NewReader(r.Body))
		if err != nil {
			return pdk.HTTPResponse{}
		}
		for name, value := range r.Headers {
			request.Header.Set(name, value)
		}
		response, err := client.Do(request)
		if err != nil {
			return pdk.HTTPResponse{}
		}
		defer func() { _ = response.Body.Close() }() // it was only read
		body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
		if err != nil || len(body) > maxBody {
			return pdk.HTTPResponse{}
		}
		headers := map[string]string{}
		for name, values := range response.Header {
			headers[strings.ToLower(name)] = strings.Join(values, ",")
		}
		return pdk.HTTPResponse{Status: response.StatusCode, Headers: headers, Body: string(body)}
	}
}
