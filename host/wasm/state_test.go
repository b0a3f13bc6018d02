package wasm_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
)

func TestStateOfAnOlderVersionIsMigrated(t *testing.T) {
	first := script{"describe": {out(`{"state_version":1}`)}, "before_run": {out(`{"state":{"name":"Ada"}}`)}}
	second := script{
		"describe":      {out(`{"state_version":2}`)},
		"migrate_state": {out(`{"state":{"names":["Ada"]}}`)},
		"before_run":    {out(`{}`)},
	}
	third := script{"describe": {out(`{"state_version":1}`)}, "before_run": {out(`{}`)}}
	p, _ := first.load(t, wasm.Config{})
	agent := newAgent(t, &model{}, p)
	session := agent.CreateSession("")
	run := func() error {
		_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
		return err
	}
	state := func() string {
		raw, err := session.State("p").Raw()
		require.NoError(t, err)
		return string(raw)
	}
	require.NoError(t, run())
	require.NoError(t, p.Replace(t.Context(), wasm.Config{Module: second.module(t), SourceID: "p"}))
	require.NoError(t, run())
	require.Equal(t, `{"names":["Ada"]}`, state())
	require.NoError(t, run(), "it is not migrated twice")

	saved, err := session.MarshalJSON()
	require.NoError(t, err)
	session, err = host.RestoreSession(saved)
	require.NoError(t, err)
	old, _ := third.load(t, wasm.Config{})
	agent = newAgent(t, &model{}, old)
	require.ErrorContains(t, run(), "was written by state_version 2, and this version of the plugin knows 1")
	require.Equal(t, `{"names":["Ada"]}`, state())
}

func TestAFailedMigrationLeavesTheState(t *testing.T) {
	for name, output := range map[string]string{"error": `{"error":{"message":"cannot"}}`, "nothing": `{}`, "no object": `{"state":[]}`} {
		t.Run(name, func(t *testing.T) {
			s := script{"describe": {out(`{"state_version":2}`)}, "migrate_state": {out(output)}, "before_run": {out(`{}`)}}
			p, _ := s.load(t, wasm.Config{})
			agent := newAgent(t, &model{}, p)
			session := agent.CreateSession("")
			require.NoError(t, session.State("p").Replace([]byte(`{"n":1}`)))
			_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
			require.ErrorContains(t, err, "migrate_state")
			raw, err := session.State("p").Raw()
			require.NoError(t, err)
			require.Equal(t, `{"n":1}`, string(raw))
		})
	}
}
