package host_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
)

func TestASessionKeepsWhatIsPinnedToItAndDoesNotSaveIt(t *testing.T) {
	session := host.NewSession("s")
	made := 0
	pin := func(s *host.Session) *int {
		return host.PinSession(s, "key", func() *int { made++; return new(int) })
	}
	var all sync.WaitGroup
	first := pin(session)
	for range 8 {
		all.Go(func() {
			if pin(session) != first {
				t.Error("another value")
			}
		})
	}
	all.Wait()
	require.Equal(t, 1, made)
	require.Equal(t, "text", host.PinSession(session, "key", func() string { return "text" }), "a type has its own keys")
	require.NoError(t, host.PinSession(session, "none", func() error { return nil }), "a value may be nil")
	require.NoError(t, host.PinSession(session, "none", func() error { return nil }))

	saved, err := session.MarshalJSON()
	require.NoError(t, err)
	require.JSONEq(t, `{"type":"session","session_id":"s","service_session_id":null,"state":{}}`, string(saved))
	restored, err := host.RestoreSession(saved)
	require.NoError(t, err)
	require.NotSame(t, first, pin(restored))
}
