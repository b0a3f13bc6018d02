package egress_test

import (
	"context"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/egress"
)

func TestANameThatLeadsToAnAddressThatIsNotPublicIsDenied(t *testing.T) {
	for name, address := range map[string]string{
		"loopback":             "127.0.0.1",
		"IPv6 loopback":        "::1",
		"private":              "10.1.2.3",
		"link-local":           "169.254.7.7",
		"unique local":         "fd12::1",
		"carrier's":            "100.64.1.1",
		"documentation":        "192.0.2.1",
		"benchmark":            "198.18.0.1",
		"private in IPv6":      "::ffff:192.168.0.1",
		"private in 6to4":      "2002:c0a8:1::1",
		"loopback in NAT64":    "64:ff9b::7f00:1",
		"link-local and zoned": "fe80::1%lo",
	} {
		t.Run(name, func(t *testing.T) {
			net := newInternet(t)
			net.name("example.com", address)
			c := net.client(egress.Policy{Rules: rules("http://example.com")})
			e := deniedGet(t, c, "http://example.com/")
			require.Equal(t, "http://example.com", e.Origin)
			require.Equal(t, "if that is meant, add grant: {http: [{origin: http://example.com, private: true}]}", e.Remedy)
			require.Empty(t, net.dials)

			open := net.client(egress.Policy{Rules: []egress.Rule{{Origin: "http://example.com", Private: true}}})
			_, err := get(t, open, "http://example.com/")
			require.ErrorContains(t, err, "connection refused", "a private rule opens it")
			require.Len(t, net.dials, 1)
		})
	}
}

func TestANameThatLeadsToAMetadataAddressIsDeniedToEverybody(t *testing.T) {
	for _, address := range []string{"169.254.169.254", "::ffff:169.254.169.254", "2002:a9fe:a9fe::1", "fd00:ec2::254", "0.0.0.0", "224.0.0.1"} {
		net := newInternet(t)
		net.name("metadata.test", address)
		c := net.client(egress.Policy{Rules: []egress.Rule{{Origin: "http://metadata.test", Private: true}}})
		e := deniedGet(t, c, "http://metadata.test/")
		require.Equal(t, "ask another host: no rule can allow this one", e.Remedy)
		require.Empty(t, net.dials)
	}
}

func TestANameWithAPublicAndAPrivateAddressIsDenied(t *testing.T) {
	net := newInternet(t)
	net.name("example.com", publicIP, "10.0.0.1")
	c := net.client(egress.Policy{Rules: rules("http://example.com")})
	require.Equal(t, "its address 10.0.0.1 is a private address", deniedGet(t, c, "http://example.com/").Reason)
	require.Empty(t, net.dials)
}

func TestTheNextAddressIsTriedWhereOneDoesNotAnswer(t *testing.T) {
	net := newInternet(t)
	net.name("example.com", otherIP, publicIP)
	net.serve(publicIP+":80", says("second"))
	c := net.client(egress.Policy{Rules: rules("http://example.com")})
	require.Equal(t, "second", mustGet(t, c, "http://example.com/").text)
	require.Equal(t, []string{otherIP + ":80", publicIP + ":80"}, net.dials)
}

func TestOnlySomeOfVeryManyAddressesAreTried(t *testing.T) {
	net := newInternet(t)
	for i := range 100 {
		net.names["example.com"] = append(net.names["example.com"], netip.AddrFrom4([4]byte{93, 184, 215, byte(i)}))
	}
	c := net.client(egress.Policy{Rules: rules("http://example.com")})
	_, err := get(t, c, "http://example.com/")
	require.ErrorContains(t, err, "http://example.com: dial 93.184.215.0:80: connection refused; dial 93.184.215.1:80")
	require.Len(t, net.dials, 8)
}

func TestANameWithoutAddressesIsAnError(t *testing.T) {
	net := newInternet(t)
	net.name("empty.test")
	c := net.client(egress.Policy{Rules: rules("http://empty.test", "http://unknown.test")})
	_, err := get(t, c, "http://empty.test/")
	require.ErrorContains(t, err, "empty.test has no addresses")
	_, err = get(t, c, "http://unknown.test/")
	require.ErrorContains(t, err, "no such host")
}

// resolverFunc is a resolver that may change its mind with each question.
type resolverFunc func(host string) []netip.Addr

func (f resolverFunc) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	return f(host), nil
}

func TestANameIsLookedUpOnceForEachConnection(t *testing.T) {
	world := newInternet(t)
	world.serve(publicIP+":80", says("public"))
	questions := 0
	c := world.client(egress.Policy{Rules: rules("http://rebinds.test"), Resolver: resolverFunc(func(string) []netip.Addr {
		if questions++; questions == 1 {
			return []netip.Addr{netip.MustParseAddr(publicIP)}
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}
	})})
	require.Equal(t, "public", mustGet(t, c, "http://rebinds.test/").text)
	require.Equal(t, "public", mustGet(t, c, "http://rebinds.test/").text)
	require.Equal(t, 1, questions, "between the check and the dial nobody is asked again")
	require.Equal(t, []string{publicIP + ":80"}, world.dials)
}

func TestAServerOnLoopbackIsReachedWithARuleThatIsPrivate(t *testing.T) {
	server := httptest.NewServer(says("local"))
	defer server.Close()
	open := client(t, egress.Policy{Rules: []egress.Rule{{Origin: server.URL, Private: true}}})
	require.Equal(t, "local", mustGet(t, open, server.URL).text)

	localhost := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	closed := client(t, egress.Policy{Rules: rules(localhost)})
	require.Contains(t, deniedGet(t, closed, localhost).Reason, "is a loopback address")
}
