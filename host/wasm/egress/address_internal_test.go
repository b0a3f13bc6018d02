package egress

import (
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAddressesAreJudged(t *testing.T) {
	for text, want := range map[string]verdict{
		"8.8.8.8": public, "93.184.215.14": public, "172.15.255.255": public, "172.32.0.0": public, "100.63.255.255": public,
		"100.128.0.0": public, "169.253.255.255": public, "198.17.255.255": public, "192.0.1.0": public, "223.255.255.255": public,
		"2606:4700::1111": public, "2002:0808:0808::1": public, "64:ff9b::808:808": public, "::ffff:8.8.8.8": public,
		"2001:200::1": public, "2606:4700::5efe:808:808": public,

		"127.0.0.1": special, "127.255.255.254": special, "::1": special, "10.0.0.1": special, "172.16.0.1": special,
		"172.31.255.255": special, "192.168.1.1": special, "169.254.1.1": special, "fe80::1": special, "fe80::1%eth0": special,
		"fc00::1": special, "fd12:3456::1": special, "fec0::1": special, "100.64.0.1": special, "100.127.255.255": special,
		"192.0.0.1": special, "192.0.2.1": special, "198.51.100.1": special, "203.0.113.1": special, "2001:db8::1": special,
		"3fff::1": special, "198.18.0.1": special, "198.19.255.255": special, "2001:2::1": special, "192.88.99.1": special,
		"2001::1": special, "2001:10::1": special, "100::1": special, "5f00::1": special,
		"::ffff:127.0.0.1": special, "::127.0.0.1": special, "::ffff:0:127.0.0.1": special,
		"2002:7f00:1::": special, "2002:a00:1::1": special, "64:ff9b::7f00:1": special, "64:ff9b::10.0.0.1": special,
		"64:ff9b:1::808:808": special, "2606:4700::5efe:a00:1": special, "2606:4700::200:5efe:a00:1": special,

		"169.254.169.254": never, "169.254.170.2": never, "169.254.170.23": never, "100.100.100.200": never, "168.63.129.16": never,
		"192.0.0.192": never, "fd00:ec2::254": never, "fd00:ec2::23": never, "fd20:ce::254": never,
		"0.0.0.0": never, "0.1.2.3": never, "::": never, "224.0.0.1": never, "239.255.255.255": never, "ff02::1": never,
		"240.0.0.1": never, "255.255.255.255": never,
		"::ffff:169.254.169.254": never, "::169.254.169.254": never, "2002:a9fe:a9fe::": never, "64:ff9b::a9fe:a9fe": never,
		"64:ff9b:1::a9fe:a9fe": never, "fe80::5efe:a9fe:a9fe": never, "2002:e000:1::": never, "2002:7f00:1:0:0:5efe:a9fe:a9fe": never,
	} {
		v, name := judge(netip.MustParseAddr(text))
		require.Equal(t, want, v, "%s is %s", text, name)
		require.Equal(t, want == public, name == "", text)
	}
	v, _ := judge(netip.Addr{})
	require.Equal(t, never, v)
}

// A net.Dialer resolves names by itself, so this one dials what nobody checked before.
func TestTheSocketItselfIsChecked(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	origin := Origin{Scheme: "http", Host: "example.com", Port: 80}

	_, err = newDialer(origin, false, Policy{}).connect(t.Context(), "tcp", listener.Addr().String())
	var denied *DeniedError
	require.ErrorAs(t, err, &denied)
	require.Equal(t, "its address 127.0.0.1 is a loopback address", denied.Reason)
	require.Equal(t, "if that is meant, add grant: {http: [{origin: http://example.com, private: true}]}", denied.Remedy)

	conn, err := newDialer(origin, true, Policy{}).connect(t.Context(), "tcp", listener.Addr().String())
	require.NoError(t, err)
	require.NoError(t, conn.Close())

	_, err = newDialer(origin, true, Policy{}).connect(t.Context(), "tcp", "169.254.169.254:80")
	require.ErrorAs(t, err, &denied)
	require.Equal(t, "ask another host: no rule can allow this one", denied.Remedy)
}
