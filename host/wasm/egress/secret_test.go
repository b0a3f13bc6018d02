package egress_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/egress"
)

// keeper is an internet with a.test, which gets the secret "key", and b.test, which gets none.
func keeper(t *testing.T, a http.HandlerFunc) (c *egress.Client, siteA, siteB *site, log *bytes.Buffer) {
	t.Helper()
	net := newInternet(t)
	net.name("a.test", publicIP)
	net.name("b.test", otherIP)
	siteA, siteB = net.serve(publicIP+":80", a), net.serve(otherIP+":80", says("b"))
	log = &bytes.Buffer{}
	return net.client(egress.Policy{
		Rules: []egress.Rule{
			{Origin: "http://a.test", Secrets: []string{"key", "second"}, Private: true},
			{Origin: "http://b.test"},
		},
		Secrets: map[string]egress.Secret{"key": egress.NewSecret(apiKey), "second": egress.NewSecret("another-secret")},
		Log:     slog.New(slog.NewTextHandler(log, nil)),
	}), siteA, siteB, log
}

func TestASecretIsPutIntoTheValueOfAHeader(t *testing.T) {
	c, a, _, _ := keeper(t, says("ok"))
	mustGet(t, c, "http://a.test/", "Authorization", "Bearer {{secret.key}}", "X-Both", "{{secret.second}}:{{secret.key}}{{secret.second}}",
		"X-Plain", "{{key}} {{ secret.key }} {secret.key}")
	header := a.seen()[0].Header
	require.Equal(t, "Bearer "+apiKey, header.Get("Authorization"))
	require.Equal(t, "another-secret:"+apiKey+"another-secret", header.Get("X-Both"))
	require.Equal(t, "{{key}} {{ secret.key }} {secret.key}", header.Get("X-Plain"), "only handles are replaced")
}

func TestASecretForAnotherHostIsDenied(t *testing.T) {
	c, a, b, log := keeper(t, says("ok"))
	e := deniedGet(t, c, "http://b.test/", "X-Key", "{{secret.key}}")
	require.Equal(t, "the secret key is not for this origin", e.Reason)
	require.Equal(t, "if it should be, add grant: {http: [{origin: http://b.test, secrets: [key]}]}", e.Remedy)
	require.Empty(t, a.seen())
	require.Empty(t, b.seen())
	require.Contains(t, log.String(), `level=WARN msg="http request denied" origin=http://b.test method=GET reason="the secret key is not for this origin"`)

	e = deniedGet(t, c, "http://a.test/", "X-Key", "{{secret.unknown}}")
	require.Equal(t, "the secret unknown is not for this origin", e.Reason)
}

func TestABrokenHandleIsDenied(t *testing.T) {
	c, a, _, _ := keeper(t, says("ok"))
	for _, value := range []string{
		"{{secret.key", "{{secret.}}", "{{secret.key }}", "{{secret.{{secret.key}}}}", "{{secret.key}", "{{secret.key}} {{secret.",
		"{{secret." + strings.Repeat("k", 65) + "}}",
	} {
		require.Contains(t, deniedGet(t, c, "http://a.test/", "X-Key", value).Reason, "a broken handle of a secret", value)
	}
	require.Empty(t, a.seen())
}

func TestASecretInAURLIsDenied(t *testing.T) {
	c, a, _, _ := keeper(t, says("ok"))
	for _, url := range []string{
		"http://a.test/{{secret.key}}", "http://a.test/?k={{secret.key}}", "http://a.test/?k=%7B%7Bsecret.key%7D%7D",
		"http://a.test/%7b%7bsecret.key}}", "http://a.test/#{{secret.key}}", "http://a.test/?a=%zz&k={{secret.key}}",
	} {
		e := deniedGet(t, c, url)
		require.Equal(t, "there is a handle of a secret in its URL", e.Reason, url)
		require.Equal(t, "put handles into values of headers", e.Remedy)
	}
	require.Empty(t, a.seen())
}

func TestASecretInABodyIsDenied(t *testing.T) {
	c, a, _, _ := keeper(t, says("ok"))
	e := denied(t, c, newRequest(t, http.MethodPost, "http://a.test/", `{"key": "{{secret.key}}"}`))
	require.Equal(t, "there is a handle of a secret in its body", e.Reason)
	require.Empty(t, a.seen())
}

func TestASecretInTheNameOfAHeaderIsDenied(t *testing.T) {
	c, a, _, _ := keeper(t, says("ok"))
	r := newRequest(t, http.MethodGet, "http://a.test/", "")
	r.Header["X-{{secret.key}}"] = []string{"x"}
	require.Equal(t, "there is a handle of a secret in the name of a header, and handles are for their values", denied(t, c, r).Reason)
	require.Empty(t, a.seen())
}

func TestASecretWithARangeIsDenied(t *testing.T) {
	c, a, _, _ := keeper(t, says("ok"))
	e := deniedGet(t, c, "http://a.test/", "Range", "bytes=0-3", "X-Key", "{{secret.key}}")
	require.Contains(t, e.Reason, "it asks for a part of the answer")
	require.Empty(t, a.seen())
	mustGet(t, c, "http://a.test/", "Range", "bytes=0-3")
}

func TestSecretsDoNotMakeHeadersLargerThanTheyMayBe(t *testing.T) {
	c, a, _, _ := keeper(t, says("ok"))
	e := deniedGet(t, c, "http://a.test/", "X-Key", strings.Repeat("{{secret.key}}", 4000))
	require.Contains(t, e.Reason, "have more than 64.0 KiB")
	require.Empty(t, a.seen())
}

func TestASecretIsNotPrinted(t *testing.T) {
	secret := egress.NewSecret(apiKey)
	policy := egress.Policy{
		Rules:   []egress.Rule{{Origin: "https://a.test", Secrets: []string{"key"}}},
		Secrets: map[string]egress.Secret{"key": secret},
	}
	c := client(t, policy)
	for _, value := range []any{secret, &secret, []egress.Secret{secret}, policy, &policy, c, *c, struct{ s egress.Secret }{secret}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%p"} {
			text := fmt.Sprintf(verb, value)
			require.NotContains(t, text, apiKey, verb)
			require.NotContains(t, text, fmt.Sprintf("%x", apiKey), verb)
		}
	}
	require.Equal(t, "[hidden] [hidden] [hidden]", fmt.Sprintf("%v %s %#v", secret, secret, secret))
	require.Equal(t, "[hidden]", secret.String())
	require.Equal(t, "[hidden]", secret.GoString())

	text, err := json.Marshal(policy.Secrets)
	require.NoError(t, err)
	require.JSONEq(t, `{"key": "[hidden]"}`, string(text))
	text, err = yaml.Marshal(policy.Secrets)
	require.NoError(t, err)
	require.NotContains(t, string(text), apiKey)

	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secret", secret, "policy", policy.Secrets)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "secret", secret, "policy", policy.Secrets)
	require.NotContains(t, log.String(), apiKey)
	require.Contains(t, log.String(), "secret=[hidden]")
}

func TestTheSecretsOfAClientAreThoseOfItsBeginning(t *testing.T) {
	net := newInternet(t)
	net.name("a.test", publicIP)
	s := net.serve(publicIP+":80", says("ok"))
	policy := egress.Policy{
		Rules:   []egress.Rule{{Origin: "http://a.test", Secrets: []string{"key"}, Private: true}},
		Secrets: map[string]egress.Secret{"key": egress.NewSecret(apiKey)},
	}
	c := net.client(policy)
	policy.Secrets["key"] = egress.NewSecret("changed-later")
	policy.Rules[0].Secrets[0] = "other"
	mustGet(t, c, "http://a.test/", "X-Key", "{{secret.key}}")
	require.Equal(t, apiKey, s.seen()[0].Header.Get("X-Key"))
}
