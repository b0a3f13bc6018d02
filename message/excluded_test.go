package message_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/message"
)

func TestExcludedIsAMarkInTheMessagesJSON(t *testing.T) {
	m := message.User("hi")
	m.Properties = map[string]jsontext.Value{"mine": jsontext.Value("1")}
	require.False(t, m.Excluded())
	require.Same(t, m, m.WithExcluded(false))

	marked := m.WithExcluded(true)
	require.True(t, marked.Excluded())
	require.False(t, m.Excluded(), "the message itself is left alone")
	require.Same(t, marked, marked.WithExcluded(true))

	b, err := marked.MarshalJSON()
	require.NoError(t, err)
	require.Equal(t, `{"role":"user","contents":[{"type":"text","text":"hi"}],"properties":{"compaction_excluded":true,"mine":1}}`, string(b))
	var restored message.Message
	require.NoError(t, restored.UnmarshalJSON(b))
	require.True(t, restored.Excluded())
	require.Equal(t, m, restored.WithExcluded(false))

	require.True(t, message.User("without properties").WithExcluded(true).Excluded())
}
