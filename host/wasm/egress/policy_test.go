package egress_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/egress"
)

func TestAllFaultsOfAPolicyAreNamedAtOnce(t *testing.T) {
	p := egress.Policy{
		Rules: []egress.Rule{
			{Origin: "https://*.example.com"},
			{Origin: "https://a.example/path"},
			{Origin: "ftp://a.example"},
			{Origin: "https://a.example", Secrets: []string{"key", "unknown"}},
			{Origin: "HTTPS://A.example.:443"},
			{Origin: "http://10.0.0.1"},
			{Origin: "http://169.254.169.254", Private: true},
			{Origin: "https://b.example", Methods: []string{"GET", "TRACE", "connect", "no method", ""}},
			{Origin: "http://c.example", Secrets: []string{"key"}},
		},
		Secrets: map[string]egress.Secret{
			"key": egress.NewSecret(apiKey), "short": egress.NewSecret("1234567"), "empty": {}, "of a file": egress.NewSecret("from-a-file"),
			"line": egress.NewSecret("from-a-file\n"), "two": egress.NewSecret("two\r\nlines"), "long": egress.NewSecret(strings.Repeat("x", 4097)),
		},
	}
	err := p.Check()
	require.EqualError(t, err, `the policy for HTTP requests cannot be used
  - secrets.empty: it has no value: set it, or remove it
  - secrets.line: its value begins or ends with a blank: trim it: the end of a line often comes from a file
  - secrets.long: its value has 4097 bytes: use one of at most 4096 bytes
  - secrets: "of a file" is no name for a secret: use letters, digits, _ and -, 64 at most
  - secrets.short: its value has 7 bytes, which could not be told from other text: use one of 8 bytes or more
  - secrets.two: its value has characters that no header may have: look whether it was read from the right place
  - http[0].origin: origin "https://*.example.com" has a wildcard: name each host in a rule of its own
  - http[1].origin: origin "https://a.example/path" has more than scheme, host and port: write https://a.example
  - http[2].origin: origin "ftp://a.example" has the scheme "ftp" where http or https was wanted: begin it with https://
  - http[3].secrets[1]: there is no secret "unknown": give it a value, or remove the name
  - http[4].origin: https://a.example has a rule already, http[3]: make one rule of the two
  - http[5].origin: 10.0.0.1 is a private address: add private: true, if that is meant
  - http[6].origin: 169.254.169.254 is a cloud's metadata address: remove the rule: no rule can allow it
  - http[7].methods[1]: TRACE cannot be allowed: remove it
  - http[7].methods[2]: CONNECT cannot be allowed: remove it
  - http[7].methods[3]: "no method" is no method: write one such as GET
  - http[7].methods[4]: "" is no method: write one such as GET
  - http[8].secrets: http://c.example would be sent secrets that everybody on the way can read: use https, or add private: true for a server of your own network`)
	var policy *egress.PolicyError
	require.ErrorAs(t, err, &policy)
	require.Len(t, policy.Faults, 18)

	c, failed := egress.New(p)
	require.Nil(t, c)
	require.Equal(t, err, failed)

	err = egress.Policy{Rules: rules("https://*")}.Check()
	require.EqualError(t, err, `the policy for HTTP requests cannot be used: http[0].origin: origin "https://*" has a wildcard: name each host in a rule of its own`)
}

func TestTheZeroPolicyAllowsNothing(t *testing.T) {
	require.NoError(t, egress.Policy{}.Check())
	c := client(t, egress.Policy{})
	require.Equal(t, "no rule has this origin", deniedGet(t, c, "https://example.com/").Reason)
}

func TestADenialIsLogged(t *testing.T) {
	net := newInternet(t)
	var log bytes.Buffer
	c := net.client(egress.Policy{Log: slog.New(slog.NewJSONHandler(&log, nil))})
	deniedGet(t, c, "https://evil.example/path?with=data")
	text := log.String()
	require.Contains(t, text, `"level":"WARN","msg":"http request denied","origin":"https://evil.example","method":"GET","reason":"no rule has this origin"}`)
	require.Equal(t, 1, strings.Count(text, "\n"))
	require.NotContains(t, text, "data")
}

func TestAnAllowedRequestIsNotLogged(t *testing.T) {
	var log bytes.Buffer
	c, _ := reading(t, egress.Policy{Log: slog.New(slog.NewJSONHandler(&log, nil))}, says("ok"))
	mustGet(t, c, "http://a.test/")
	require.Empty(t, log.String())
}

func TestAClientServesManyGoroutinesAtOnce(t *testing.T) {
	c, _, _, _ := keeper(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s", r.URL.Path, r.Header.Get("X-Key"))
	})
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 20 {
				path := fmt.Sprintf("/%d/%d", i, j)
				a, err := get(t, c, "http://a.test"+path, "X-Key", "{{secret.key}}")
				if err != nil || a.text != path+" [hidden]" {
					t.Errorf("%s: %q, %v", path, a.text, err)
				}
			}
		})
	}
	group.Wait()
}
