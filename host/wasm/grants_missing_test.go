package wasm

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/message"
)

// TestTheLinesToAddHoldWhatIsAskedAndWhatIsGiven is about every member of a grant. That YAML takes the lines for what they
// mean is tested in package config.
func TestTheLinesToAddHoldWhatIsAskedAndWhatIsGiven(t *testing.T) {
	const api = "https://api.example.com"
	for name, c := range map[string]struct {
		asked, given abi.Grants
		want         string
	}{
		"nothing": {asked: abi.Grants{}, given: abi.DefaultGrants()},
		"what is given already": {
			asked: abi.Grants{
				Read: []string{"input", "context:docs"}, KV: []string{"agent"}, Complete: &abi.Budget{Calls: 1, Tokens: 100},
				Search: []abi.SearchGrant{{Index: "docs"}}, HTTP: []abi.HTTPGrant{{Origin: api + ":443", Methods: []string{"GET"}}},
				Files: []abi.FileGrant{{Guest: "/docs"}},
			},
			given: abi.Grants{
				Read: []string{"input", "context:*"}, KV: []string{"session", "agent"}, Complete: &abi.Budget{Calls: 2, Tokens: 100},
				Search: []abi.SearchGrant{{Index: "docs", Mode: "rw"}}, HTTP: []abi.HTTPGrant{{Origin: "https://API.example.com."}},
				Files: []abi.FileGrant{{Guest: "/docs"}},
			},
		},
		"words": {
			asked: abi.Grants{
				Read: []string{"context:docs", "calls", "calls"}, Add: []string{"tools"}, Roles: []message.Role{"system"}, Change: []string{"result"},
				Middleware: []abi.Layer{"chat"}, KV: []string{"session"}, Events: []string{"emit", "request"},
			},
			given: abi.DefaultGrants(),
			want: `
				read: [input, response, "context:docs", calls]
				add: [messages, instructions, tools]
				roles: [user, system]
				change: [result]
				middleware: [chat]
				kv: [session]
				events: [emit, request]`,
		},
		"a wildcard covers the sources behind it": {
			asked: abi.Grants{Read: []string{"context:*", "context:docs"}}, given: abi.Grants{Read: []string{}},
			want: `read: ["context:*"]`,
		},
		"budgets": {
			asked: abi.Grants{Complete: &abi.Budget{Calls: 4, Tokens: 100}, Embed: &abi.Budget{Calls: 1, Tokens: 2}},
			given: abi.Grants{Complete: &abi.Budget{Calls: 2, Tokens: 900}},
			want: `
				complete: {calls: 4, tokens: 900}
				embed: {calls: 1, tokens: 2}`,
		},
		"indexes": {
			asked: abi.Grants{Search: []abi.SearchGrant{{Index: "docs", Mode: "rw"}, {Index: "notes"}, {Index: "notes", Mode: "rw"}}},
			given: abi.Grants{Search: []abi.SearchGrant{{Index: "faq"}, {Index: "docs", Mode: "ro"}}},
			want:  `search: [{index: faq, mode: ro}, {index: docs, mode: rw}, {index: notes, mode: rw}]`,
		},
		"a further origin": {
			asked: abi.Grants{HTTP: []abi.HTTPGrant{{Origin: "http://127.0.0.1:8080", Private: true}}},
			given: abi.Grants{HTTP: []abi.HTTPGrant{{Origin: api, Secrets: []string{"api_key"}}}},
			want: `
				http:
				  - {origin: https://api.example.com, secrets: [api_key]}
				  - {origin: http://127.0.0.1:8080, private: true}`,
		},
		"more of an origin": {
			asked: abi.Grants{HTTP: []abi.HTTPGrant{{Origin: api, Methods: []string{"POST"}, Secrets: []string{"api_key"}}, {Origin: "http://[::1]:80", Private: true}}},
			given: abi.Grants{HTTP: []abi.HTTPGrant{{Origin: api + ":443", Methods: []string{"GET"}}}},
			want: `
				http:
				  - {origin: https://api.example.com:443, methods: [GET, POST], secrets: [api_key]}
				  - {origin: "http://[::1]:80", private: true}
				  # and beside grant, where the values come from: secrets: {api_key: {env: VARIABLE}}`,
		},
		"any method": {
			asked: abi.Grants{HTTP: []abi.HTTPGrant{{Origin: api}}},
			given: abi.Grants{HTTP: []abi.HTTPGrant{{Origin: api, Methods: []string{"GET"}}}},
			want: `
				http:
				  - https://api.example.com`,
		},
		"folders": {
			asked: abi.Grants{Files: []abi.FileGrant{{Guest: "/docs"}, {Guest: "/my docs", Mode: "ro"}}},
			want: `
				files:
				  - {host: FOLDER, guest: /docs, mode: ro}
				  - {host: FOLDER, guest: "/my docs", mode: ro}`,
		},
		"a further folder": {
			asked: abi.Grants{Files: []abi.FileGrant{{Guest: "/docs"}}}, given: abi.Grants{Files: []abi.FileGrant{{Guest: "/faq"}}},
			want: `
				files: # and those that it has
				  - {host: FOLDER, guest: /docs, mode: ro}`,
		},
		"a folder to write": {
			asked: abi.Grants{Files: []abi.FileGrant{{Guest: "/notes", Mode: "rw"}, {Guest: "/docs"}}},
			given: abi.Grants{Files: []abi.FileGrant{{Guest: "/notes", Mode: "ro"}, {Guest: "/docs", Mode: "rw"}}},
			want: `
				files: # and those that it has
				  - {host: FOLDER, guest: /notes, mode: rw} # in place of the one that it has there`,
		},
		"text of a stranger": {
			asked: abi.Grants{Read: []string{"context:a\n- b"}, Files: []abi.FileGrant{{Guest: "/\x1b[2J, host: /"}}}, given: abi.Grants{},
			want: `
				read: ["context:a\n- b"]
				files:
				  - {host: FOLDER, guest: "/\x1b[2J, host: /", mode: ro}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := strings.TrimPrefix(strings.ReplaceAll(c.want, "\n\t\t\t\t", "\n"), "\n")
			assert.Equal(t, want, strings.Join(missing(&c.asked, &c.given), "\n"))
			if c.want == "" {
				assert.Nil(t, missing(&c.asked, &c.given))
			}
		})
	}
	assert.Nil(t, missing(nil, &abi.Grants{}))
}

func TestAPluginThatIsUpdatedTellsWhichRightsAreNew(t *testing.T) {
	const api = "https://api.example.com"
	old := abi.Grants{
		Read: []string{"input", "context:docs"}, KV: []string{"session"}, Complete: &abi.Budget{Calls: 1, Tokens: 100},
		Search: []abi.SearchGrant{{Index: "docs", Mode: "ro"}}, Events: []string{"emit"},
		HTTP: []abi.HTTPGrant{{Origin: api, Methods: []string{"GET"}}, {OriginFrom: "base_url"}}, Files: []abi.FileGrant{{Guest: "/docs"}},
	}
	now := abi.Grants{
		Read: []string{"input", "context:*"}, KV: []string{"session", "agent"}, Complete: &abi.Budget{Calls: 3, Tokens: 100},
		Search: []abi.SearchGrant{{Index: "docs", Mode: "rw"}},
		HTTP:   []abi.HTTPGrant{{Origin: api + ":443", Secrets: []string{"api_key"}, Private: true}, {OriginFrom: "base_url", Methods: []string{"GET"}}},
		Files:  []abi.FileGrant{{Guest: "/docs"}, {Guest: "/faq"}},
	}
	assert.Equal(t, []string{
		"+ read context:*", "+ kv agent", "+ complete {calls: 3, tokens: 100}", "+ search docs rw",
		"+ http https://api.example.com any method", "+ http https://api.example.com secret api_key",
		"+ http https://api.example.com private", "+ files /faq",
		"- events emit", "- http (the origin of base_url in its config) any method",
	}, GrantDiff(old, now))
	assert.Nil(t, GrantDiff(now, now))
	reads := abi.Grants{Files: []abi.FileGrant{{Guest: "/notes"}}}
	writes := abi.Grants{Files: []abi.FileGrant{{Guest: "/notes", Mode: "rw"}}}
	assert.Equal(t, []string{"+ files /notes rw"}, GrantDiff(reads, writes))
	assert.Equal(t, []string{"- files /notes rw"}, GrantDiff(writes, reads))
	assert.Equal(t, []string{"+ read response"}, GrantDiff(abi.Grants{}, abi.Grants{Read: []string{"response", "response"}}))
}
