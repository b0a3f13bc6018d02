package web_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/weft-run/weft/pdk/go/json"
	"github.com/weft-run/weft/pdk/go/web"
)

func TestAQueryIsReadAsItWasMeant(t *testing.T) {
	query := web.Query("q", "a b&c=d/é?#%+'\n", "empty", "", "n", "5", "odd")
	values, err := url.ParseQuery(query)
	if err != nil || len(values) != 2 || values.Get("q") != "a b&c=d/é?#%+'\n" || values.Get("n") != "5" {
		t.Errorf("%s: %v, %v", query, values, err)
	}
	if have := web.Query(); have != "" {
		t.Errorf("nothing was wanted: %q", have)
	}
	if have, err := url.PathUnescape(web.Escape("a/b 'c'")); have != "a/b 'c'" || err != nil {
		t.Error(have, err)
	}
}

func TestAnEndpointIsAnAddress(t *testing.T) {
	for text, want := range map[string]string{
		"https://api.example.com":       "https://api.example.com",
		"https://api.example.com/":      "https://api.example.com",
		"http://127.0.0.1:8080/searx//": "http://127.0.0.1:8080/searx",
	} {
		r := json.NewReader(json.String(text))
		if have := web.Endpoint(r); have != want || r.End() != nil {
			t.Errorf("%s: want %s, have %s, %v", text, want, have, r.End())
		}
	}
	for _, text := range []string{
		"", "api.example.com", "ftp://a.example", "https://", "https:///x", "https://a.example?x=1", "https://a.example/#x",
		"https://a.example/{{secret.x}}", "https://a b", "https://a.example/\n", "https://a.example\\x",
	} {
		r := json.NewReader(json.String(text))
		web.Endpoint(r)
		if err := r.End(); err == nil || !strings.Contains(err.Error(), "an address such as") {
			t.Errorf("%q was taken: %v", text, err)
		}
	}
	r := json.NewReader(json.String("https://user:hunter2@a.example"))
	web.Endpoint(r)
	if err := r.End(); err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "secret in a header") {
		t.Errorf("a password was wanted to be refused, and not shown: %v", err)
	}
	r = json.NewReader("7")
	web.Endpoint(r)
	if err := r.End(); err == nil || err.Error() != "a string was wanted, and a number is there" {
		t.Error(err)
	}
}

func TestALinkIsAnAddressOnTheWeb(t *testing.T) {
	for text, want := range map[string]string{
		"https://a.example/b?c=d&e#f":                    "https://a.example/b?c=d&e#f",
		"http://a.example/[x]<y>\"z\"`":                  "http://a.example/%5Bx%5D%3Cy%3E%22z%22%60",
		"https://ä.example/ö":                            "https://ä.example/ö",
		"javascript:alert(1)":                            "",
		"data:text/html,x":                               "",
		"//a.example":                                    "",
		"https://":                                       "",
		"https:///x":                                     "",
		"https://a.example/ b":                           "",
		"https://a.example/\nb":                          "",
		"https://a.example/\u202eb":                      "",
		"https://a.example/" + strings.Repeat("x", 2000): "",
		"": "",
	} {
		if have := web.Link(text); have != want {
			t.Errorf("%q: want %q, have %q", text, want, have)
		}
	}
}
