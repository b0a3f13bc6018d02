package egress_test

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/foxcpp/go-mockdns"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/egress"
)

// The name server says a public address to the first question and loopback to the next: what is dialled is what was checked,
// and each new connection is checked anew.
func TestDNSRebindingIsDenied(t *testing.T) {
	secret := httptest.NewServer(says("the host's own"))
	defer secret.Close()
	zones := func(address string) *mockdns.Server {
		s, err := mockdns.NewServerWithLogger(map[string]mockdns.Zone{"rebinds.test.": {A: []string{address}}}, log.New(io.Discard, "", 0), false)
		require.NoError(t, err)
		t.Cleanup(func() { s.Close() })
		return s
	}
	public, private := zones(publicIP), zones("127.0.0.1")
	var rebound atomic.Bool
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		server := public
		if rebound.Load() {
			server = private
		}
		return new(net.Dialer).DialContext(ctx, network, server.LocalAddr().String())
	}}

	world := newInternet(t)
	port := secret.URL[strings.LastIndexByte(secret.URL, ':'):]
	world.serve(publicIP+port, func(w http.ResponseWriter, _ *http.Request) {
		rebound.Store(true) // The name leads elsewhere as soon as it was looked up and dialled.
		w.Header().Set("Connection", "close")
		_, _ = w.Write([]byte("public"))
	})
	world.servers["127.0.0.1"+port] = secret.Listener.Addr().String()
	c := world.client(egress.Policy{Rules: rules("http://rebinds.test" + port), Resolver: resolver})

	require.Equal(t, "public", mustGet(t, c, "http://rebinds.test"+port).text)
	require.Equal(t, "its address 127.0.0.1 is a loopback address", deniedGet(t, c, "http://rebinds.test"+port).Reason)
	require.Equal(t, []string{publicIP + port}, world.dials, "loopback was never dialled")
}
