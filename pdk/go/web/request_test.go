package web_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
	"github.com/weft-run/weft/pdk/go/pdktest"
	"github.com/weft-run/weft/pdk/go/web"
)

// answer is what the services of these tests answer.
type answer struct{ Name string }

func (a *answer) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		if name == "name" {
			a.Name = r.String()
		}
	}
}

// read sends a request in a hook, and has it answered.
func read(t *testing.T, request web.Request, response pdk.HTTPResponse) (answer, pdk.HTTPRequest, error) {
	t.Helper()
	var got answer
	var sent pdk.HTTPRequest
	var err error
	host := pdktest.Host{HTTP: func(r pdk.HTTPRequest) pdk.HTTPResponse {
		sent = r
		return response
	}}
	host.Call(t, func() int32 {
		return pdk.AfterRun(func(*pdk.In, *pdk.RunOut) error {
			err = request.Read(&got)
			return nil
		})
	}, `{}`)
	return got, sent, err
}

func TestAnAnswerIsRead(t *testing.T) {
	got, sent, err := read(t, web.Request{
		Service: "S", Method: http.MethodPost, URL: "https://s.example", Headers: map[string]string{"X-Key": "k"}, Body: `{"q":1}`,
	}, pdk.HTTPResponse{Status: 206, Body: `{"name":"x","more":[1]}`})
	if err != nil || got.Name != "x" {
		t.Errorf("%+v, %v", got, err)
	}
	if sent.Method != http.MethodPost || sent.URL != "https://s.example" || string(sent.Body) != `{"q":1}` || len(sent.Headers) != 3 ||
		sent.Headers["Accept"] != "application/json" || sent.Headers["Content-Type"] != "application/json" || sent.Headers["X-Key"] != "k" {
		t.Errorf("%+v", sent)
	}
	_, sent, _ = read(t, web.Request{URL: "https://s.example"}, pdk.HTTPResponse{Status: 200, Body: `{}`})
	if len(sent.Headers) != 1 || len(sent.Body) != 0 {
		t.Errorf("without a body there is nothing to say of its type: %+v", sent)
	}
}

func TestAStatusBecomesACode(t *testing.T) {
	request := web.Request{Service: "S", Remedies: map[int]string{404: "check index in the config"}}
	for _, c := range []struct {
		status     int
		body       string
		retryAfter string
		code       pdk.Code
		message    string
	}{
		{401, ``, "", pdk.CodeDenied, "S answered 401 Unauthorized"},
		{402, `{"message":"no money"}`, "", pdk.CodeDenied, `S answered 402 Payment Required, and says "no money"`},
		{403, `<html>Forbidden</html>`, "", pdk.CodeDenied, "S answered 403 Forbidden"},
		{
			404, `{"error":{"code":"","message":"The index 'x' was not found."}}`, "", pdk.CodeNotFound,
			`S answered 404 Not Found, and says "The index 'x' was not found.": check index in the config`,
		},
		{410, ``, "", pdk.CodeNotFound, "S answered 410 Gone"},
		{408, ``, "", pdk.CodeTimeout, "S answered 408 Request Timeout"},
		{409, ``, "", pdk.CodeConflict, "S answered 409 Conflict"},
		{
			422, `{"type":"ErrorResponse","error":{"id":"5","status":422,"code":"TOKEN_INVALID","detail":"Bad token.","meta":{}},"time":1}`, "",
			pdk.CodeInvalidInput, `S answered 422 Unprocessable Content, and says "TOKEN_INVALID: Bad token."`,
		},
		{
			400, `{"error":"400 Bad Request","details":{"message":"user_id is missing in the filters"}}`, "", pdk.CodeInvalidInput,
			`S answered 400 Bad Request, and says "user_id is missing in the filters"`,
		},
		{418, `{"detail":[{"code":7},"a","bc"]}`, "", pdk.CodeInvalidInput, `S answered 418, and says "bc"`},
		{429, `"slow down"`, "30", pdk.CodeLimit, `S answered 429 Too Many Requests, and says "slow down"; it takes requests again after 30 s`},
		{
			429, ``, "Wed, 21 Oct 2026 07:28:00 GMT", pdk.CodeLimit,
			"S answered 429 Too Many Requests; it takes requests again after Wed, 21 Oct 2026 07:28:00 GMT",
		},
		{
			500, `{"error":{"message":"a\nb` + strings.Repeat("x", 400) + `"}}`, "", pdk.CodeUnavailable,
			`S answered 500 Internal Server Error, and says "a b` + strings.Repeat("x", 294) + `…"`,
		},
		{503, `{"error": tru`, "", pdk.CodeUnavailable, "S answered 503 Service Unavailable"},
		{302, ``, "", pdk.CodeUnavailable, "S answered 302"},
		{500, `{"error":{"error":{"error":{"error":{"message":"too deep"}}}}}`, "", pdk.CodeUnavailable, "S answered 500 Internal Server Error"},
		{500, `{"error":{"code":"E1"}}`, "", pdk.CodeUnavailable, `S answered 500 Internal Server Error, and says "E1"`},
		{500, `[` + strings.Repeat(`[`, 1000), "", pdk.CodeUnavailable, "S answered 500 Internal Server Error"},
	} {
		_, _, err := read(t, request, pdk.HTTPResponse{Status: c.status, Body: c.body, Headers: map[string]string{"retry-after": c.retryAfter}})
		coded, ok := errors.AsType[*pdk.Error](err)
		if !ok || coded.Code != c.code || coded.Message != c.message {
			t.Errorf("%d: want %s %s\nhave %v", c.status, c.code, c.message, err)
		}
	}
}

func TestAnAnswerThatIsNotOfTheFormatIsAnError(t *testing.T) {
	for body, want := range map[string]string{
		"<!doctype html>\n<p>x": `not valid JSON at byte 0: an object was wanted, and '<' is there; the answer begins with "<!doctype html> <p>x"`,
		"":                      "not valid JSON at byte 0: an object was wanted, and the text ends; the answer is empty",
		`{"name":"x"`:           "at /name: not valid JSON at byte 11: a comma or } was wanted, and the text ends",
		`{"name":7}`:            "at /name: a string was wanted, and a number is there",
		`["x"]`:                 "an object was wanted, and an array is there",
	} {
		_, _, err := read(t, web.Request{Service: "S"}, pdk.HTTPResponse{Status: 200, Body: body})
		coded, ok := errors.AsType[*pdk.Error](err)
		if !ok || coded.Code != pdk.CodeUnavailable || coded.Message != "S answered 200 with something that is not in its format: "+want {
			t.Errorf("want %s\nhave %v", want, err)
		}
	}
	_, _, err := read(t, web.Request{Service: "S", URL: "https://s.example"}, pdk.HTTPResponse{})
	if coded, ok := errors.AsType[*pdk.Error](err); !ok || coded.Code != pdk.CodeUnavailable {
		t.Errorf("no answer at all is unavailable: %v", err)
	}
}
