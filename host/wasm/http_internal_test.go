package wasm

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/abi"
)

func TestOriginsThatAConfigNamesAreResolved(t *testing.T) {
	config := []byte(`{"url":"https://User:pw@API.Example.com:443/v1?key=k","api":{"url":"http://127.0.0.1:8080/x","none":null},"\u0061b":"https://b.example.com","n":1}`)
	asked := abi.Grants{
		Read: []string{"input"},
		HTTP: []abi.HTTPGrant{
			{OriginFrom: "url", Methods: []string{"GET"}, Secrets: []string{"api"}},
			{OriginFrom: "api.url", Private: true},
			{OriginFrom: "ab"},
			{Origin: "HTTPS://Other.example.com."},
			{OriginFrom: "missing"},
			{OriginFrom: "api.none"},
			{OriginFrom: "api.url.deeper"},
			{OriginFrom: "n.m"},
		},
	}
	got, err := resolveOrigins(asked, config)
	require.NoError(t, err)
	require.Equal(t, abi.Grants{Read: []string{"input"}, HTTP: []abi.HTTPGrant{
		{Origin: "https://api.example.com", Methods: []string{"GET"}, Secrets: []string{"api"}},
		{Origin: "http://127.0.0.1:8080", Private: true},
		{Origin: "https://b.example.com"},
		{Origin: "https://other.example.com"},
	}}, got, "what the config does not name is not asked for")
	require.Equal(t, "url", asked.HTTP[0].OriginFrom, "what was asked is left as it is")
}

func TestConfigsThatNameNoOriginAreTold(t *testing.T) {
	_, err := resolveOrigins(abi.Grants{HTTP: []abi.HTTPGrant{{OriginFrom: "a"}, {OriginFrom: "b"}, {OriginFrom: "c"}, {OriginFrom: "d"}}},
		[]byte(`{"a":1,"b":"not a url, and key=secret","c":"ftp://example.com","d":"https://*.example.com/"}`))
	for _, want := range []string{
		"config: a, of which its grants: http/0/origin_from takes an origin: a URL was wanted, and it is no text",
		"config: b, of which its grants: http/1/origin_from takes an origin: it is no URL",
		`http/2/origin_from takes an origin: origin "ftp://example.com" has the scheme "ftp"`, "has a wildcard",
	} {
		require.ErrorContains(t, err, want)
	}
	require.NotContains(t, err.Error(), "key=secret")
}
