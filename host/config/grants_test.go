package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/message"
)

// given are the rights of an entry of a config as the contract has them.
func given(g wasm.Grants) abi.Grants {
	out := abi.Grants{
		Read: g.Read, Add: g.Add, Roles: g.Roles, Change: g.Change, Middleware: g.Middleware, KV: g.KV, Complete: g.Complete, Embed: g.Embed,
		Search: g.Search, Events: g.Events, HTTP: g.HTTP,
	}
	for _, f := range g.Files {
		out.Files = append(out.Files, abi.FileGrant{Guest: f.Guest, Mode: f.Mode})
	}
	return out
}

// TestTheLinesToAddAreAConfigThatGivesWhatIsAsked puts the lines that a load error prints into an entry.
func TestTheLinesToAddAreAConfigThatGivesWhatIsAsked(t *testing.T) {
	const api = "https://api.example.com"
	all := abi.Grants{
		Read: append([]string{"context:*", "context:docs"}, abi.ReadParts...), Add: abi.Additions, Roles: message.Roles,
		Change: abi.Changes, Middleware: abi.Layers, KV: abi.Scopes, Complete: &abi.Budget{Calls: 1, Tokens: 2}, Embed: &abi.Budget{Calls: 3, Tokens: 4},
		Search: []abi.SearchGrant{{Index: "docs", Mode: "rw"}, {Index: "on"}}, Events: abi.EventKind,
		HTTP: []abi.HTTPGrant{
			{Origin: api},
			{Origin: "https://api.example.com:8443", Methods: []string{"GET", "POST"}, Secrets: []string{"api_key"}},
			{Origin: "http://[::1]:8080", Private: true},
		},
		Files: []abi.FileGrant{{Guest: "/docs"}, {Guest: "/my docs: \"new\""}},
	}
	little := abi.Grants{
		Read: []string{"input"}, Complete: &abi.Budget{Calls: 5, Tokens: 1}, Search: []abi.SearchGrant{{Index: "docs", Mode: "ro"}},
		HTTP: []abi.HTTPGrant{{Origin: api, Methods: []string{"HEAD"}}},
	}
	for _, has := range []abi.Grants{{}, abi.DefaultGrants(), little} {
		lines := wasm.Compare(&all, has, wasm.Uses{}).Missing
		yaml := fmt.Sprintf("indexes: {docs: {}, \"on\": {}}\nproviders:\n  - plugin: plugins/clock.wasm\n    secrets: {api_key: {env: KEY}}\n    grant:\n      %s\n",
			strings.ReplaceAll(strings.Join(lines, "\n      "), "FOLDER", "docs"))
		c, err := Parse(folder(t), []byte(yaml))
		require.NoError(t, err, yaml)
		now := given(c.Providers[0].Plugin.Wasm.Grants)
		for _, line := range wasm.GrantDiff(now, all) {
			assert.NotContains(t, line, "+ ", "what is asked is not given by\n%s", yaml)
		}
		for _, line := range wasm.GrantDiff(now, has) {
			assert.NotContains(t, line, "+ ", "what was given is lost by\n%s", yaml)
		}
	}
}
