package host_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
)

// Middleware that writes what carries no label says so, and the run is as careful as with a message that has one.
func TestARunThatIsToldOfUntrustedTextIsCareful(t *testing.T) {
	var ran []string
	agent := trusting(t, &ran, host.AgentConfig{Middleware: host.Middleware{Chat: []host.ChatMiddleware{
		host.ChatFunc(func(ctx context.Context, c *host.ChatContext, next host.Next) error {
			c.Request.Instructions = order
			host.Distrust(ctx, "page")
			host.Distrust(ctx, "page")
			return next(ctx)
		}),
	}}})
	session := agent.CreateSession("")
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
	require.NoError(t, err)
	require.Empty(t, ran)
	waiting, err := session.PendingApprovals()
	require.NoError(t, err)
	require.Len(t, waiting, 1)
	require.Equal(t, "the model had seen untrusted text of page, and the tool requires trusted text", waiting[0].Reason)
	host.Distrust(t.Context(), "nobody's") // without a run
}
