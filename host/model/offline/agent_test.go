package offline_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/model/offline"
)

// TestTheConversationOfAnAgent speaks through an agent, so that history arrives as the host stamps it.
func TestTheConversationOfAnAgent(t *testing.T) {
	agent, err := host.NewAgent(host.AgentConfig{
		Name: "guide", Instructions: "Answer from the documentation.", Client: offline.New(offline.Config{}),
	})
	require.NoError(t, err)
	session := agent.CreateSession("")
	for _, turn := range []struct{ says, hears string }{
		{"What is my name?", "Nothing in my context answers that. I looked at the instructions."},
		{"My name is Ada. I prefer short answers.", "Noted. I am the offline model, though: I only quote what stands in my context."},
		{"What is my name?", "Your name is Ada. — earlier in this conversation (in_memory)"},
		{"What do I prefer?", "“I prefer short answers.” — earlier in this conversation (in_memory)"},
		{"What is a weft?", "Nothing in my context answers that. I looked at the instructions and in_memory (4 messages)."},
	} {
		response, err := agent.Run(context.Background(), host.Text(turn.says), host.RunConfig{Session: session})
		require.NoError(t, err)
		assert.Equal(t, turn.hears, response.Text(), turn.says)
	}
}
