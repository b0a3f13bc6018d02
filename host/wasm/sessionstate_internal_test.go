package wasm

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
)

func TestARunThatSawAnEarlierStateDoesNotCountItAgain(t *testing.T) {
	session := host.NewSession("")
	bucket, sizes := session.State("p"), stateSizesOf(session)
	require.NoError(t, sizes.replace("p", bucket, 0, jsontext.Value(`{"n":123456}`), 20))
	sizes.saw("p", 0, jsontext.Value(`{}`))
	require.EqualValues(t, len(`{"n":123456}`), sizes.total)
	sizes.saw("p", 2, jsontext.Value(`{"n":1}`))
	require.EqualValues(t, len(`{"n":1}`), sizes.total, "what others wrote counts once it is seen")
}

func TestAPluginThatSawAnEarlierStateIsToldOfTheConflictFirst(t *testing.T) {
	session := host.NewSession("")
	bucket, sizes := session.State("p"), stateSizesOf(session)
	require.NoError(t, sizes.replace("p", bucket, 0, jsontext.Value(`{"n":1}`), 20))
	require.ErrorIs(t, sizes.replace("p", bucket, 0, jsontext.Value(`{"n":"more than it may be"}`), 20), host.ErrConflict)
}
