package host_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/compaction"
)

func TestSettingsThatCannotWorkAreFoundWithTheAgent(t *testing.T) {
	_, err := host.NewAgent(host.AgentConfig{
		Client: &echo{}, Compaction: compaction.SlidingWindow{KeepLastGroups: -1},
		Providers: []host.Provider{compaction.NewProvider(compaction.Config{After: compaction.Truncation{CompactTo: 3}})},
	})
	require.ErrorIs(t, err, compaction.ErrSettings)
	require.ErrorContains(t, err, "compaction: compaction.SlidingWindow: the settings do not work: KeepLastGroups is -1")
	require.ErrorContains(t, err, `provider "compaction": After: compaction.Truncation: the settings do not work: CompactTo is 3`)
}
