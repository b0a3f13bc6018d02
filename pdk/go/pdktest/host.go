package pdktest

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/internal/extism"
)

// Host plays the host's part where a hook asks it for something: what call_next comes to, what is stored, what a server
// answers. The zero value answers nothing, and what a hook asks for is an error with [pdk.CodeDenied].
type Host struct {
	// Functions answer the host's functions by their names, such as "call_next" and "get_messages". Each gets a JSON object
	// and returns another, as the contract says; a failure is {"error": {"code": …, "message": …}}. One that runs a hook
	// itself, as the rest of a chain may, does so with the same or another Host.
	Functions map[string]func(input string) string
	// HTTP answers requests; nil gives no answer to any.
	HTTP func(request pdk.HTTPRequest) pdk.HTTPResponse
}

// Asked is one call of a function of the host.
type Asked struct {
	// Function is its name; "http_request" for a request.
	Function string
	// Input and Output are JSON objects. For a request they are its method, URL and headers, and the headers of the answer.
	Input, Output string
}

// Run calls a hook like [Run], with h as the host.
func (h *Host) Run(hook func() int32, input string) Result {
	p := &part{host: h}
	returned, kept := extism.Call([]byte(input), p, hook)
	result := Result{Return: returned, Output: string(kept.Output), Asked: p.asked}
	for _, line := range kept.Lines {
		result.Logs = append(result.Logs, Log{Level: levels[line.Level], Text: line.Text})
	}
	return result
}

// Call calls a hook like [Call], with h as the host.
func (h *Host) Call(t testing.TB, hook func() int32, input string) string {
	t.Helper()
	return h.Run(hook, input).object(t)
}

// part is a host in one call, and what it was asked.
type part struct {
	host  *Host
	asked []Asked
}

var _ extism.Host = (*part)(nil)

// Function answers one of the host's functions.
func (p *part) Function(name, input string) (output string) {
	if f := p.host.Functions[name]; f != nil {
		output = f(input)
	} else {
		output = failure(pdk.CodeDenied, "the host of this test has no function "+name)
	}
	p.asked = append(p.asked, Asked{Function: name, Input: input, Output: output})
	return output
}

// HTTP answers a request.
func (p *part) HTTP(request, body string) (status int, headers, answer string) {
	var wanted struct {
		Method, URL string
		Headers     map[string]string
	}
	if err := json.Unmarshal([]byte(request), &wanted); err != nil {
		panic(err) // package pdk wrote it
	}
	var response pdk.HTTPResponse
	if p.host.HTTP != nil {
		response = p.host.HTTP(pdk.HTTPRequest{
			Method: wanted.Method, URL: wanted.URL, Headers: wanted.Headers, Body: []byte(body),
		})
	}
	if response.Headers == nil {
		response.Headers = map[string]string{}
	}
	text, _ := json.Marshal(response.Headers) // strings alone
	p.asked = append(p.asked, Asked{Function: "http_request", Input: request, Output: string(text)})
	return response.Status, string(text), response.Body
}

// Answers is a function of the host that gives one output after the other. A call beyond the last one fails.
func Answers(outputs ...string) func(input string) string {
	n := 0
	return func(string) string {
		if n++; n > len(outputs) {
			return failure(pdk.CodeInternal, "this is call "+strconv.Itoa(n)+", and the test has "+strconv.Itoa(len(outputs))+" answers")
		}
		return outputs[n-1]
	}
}

func failure(code pdk.Code, message string) string {
	text, _ := json.Marshal(map[string]any{"error": map[string]string{"code": string(code), "message": message}}) // strings alone
	return string(text)
}
