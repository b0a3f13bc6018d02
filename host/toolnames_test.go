package host_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
)

// offering is a provider that adds tools.
func offering(sourceID string, tools ...host.Tool) host.Provider {
	return host.BeforeRunFunc(sourceID, func(_ context.Context, sc *host.SessionContext) error {
		sc.ExtendTools(tools...)
		return nil
	})
}

func TestToolsOfOneNameNameBothTheirOwnersBeforeAnyModelCall(t *testing.T) {
	a, b := saying("erase"), saying("erase")
	for name, c := range map[string]struct {
		agent host.AgentConfig
		run   host.RunConfig
		want  string
	}{
		"two providers":            {agent: host.AgentConfig{Providers: []host.Provider{offering("one", a), offering("two", b)}}, want: "source one and source two"},
		"the agent and a provider": {agent: host.AgentConfig{Tools: []host.Tool{a}, Providers: []host.Provider{offering("one", b)}}, want: "the agent and source one"},
		"a provider and the run":   {agent: host.AgentConfig{Providers: []host.Provider{offering("one", b)}}, run: host.RunConfig{Tools: []host.Tool{a}}, want: "source one and the run"},
		"the agent and the run":    {agent: host.AgentConfig{Tools: []host.Tool{a}}, run: host.RunConfig{Tools: []host.Tool{b}}, want: "the agent and the run"},
		"a provider and a server":  {agent: host.AgentConfig{Providers: []host.Provider{offering("one", b)}, ToolSources: []host.ToolSource{&src{"server", []host.Tool{a}}}}, want: "source one and source server"},
		"a provider and an additional tool": {
			agent: host.AgentConfig{Providers: []host.Provider{offering("one", b)}, FunctionInvocation: host.FunctionInvocation{AdditionalTools: []host.Tool{a}}},
			want:  "source one and the agent, as an additional tool,",
		},
	} {
		t.Run(name, func(t *testing.T) {
			model := &echo{}
			c.agent.Client = model
			_, err := newAgent(t, c.agent).Run(t.Context(), host.Text("hi"), c.run)
			require.ErrorIs(t, err, host.ErrDuplicateTool)
			require.ErrorContains(t, err, fmt.Sprintf(`duplicate tool "erase": %s both have one: rename or remove one of them`, c.want))
			require.Empty(t, model.requests)
		})
	}
}

func TestOneToolThatSeveralOfferIsNoDuplicate(t *testing.T) {
	a, model := saying("t"), &echo{}
	agent := newAgent(t, host.AgentConfig{
		Client: model, Tools: []host.Tool{a}, Providers: []host.Provider{offering("one", a), offering("two", a)},
		FunctionInvocation: host.FunctionInvocation{AdditionalTools: []host.Tool{a}},
	})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Tools: []host.Tool{a}})
	require.NoError(t, err)
	require.Len(t, model.requests[0].Tools, 1)
}

func TestNamesThatOnlyLookLikeAnothersAreRefused(t *testing.T) {
	for _, name := range []string{
		"еrase",                      // with a Cyrillic е
		"ｅrase",                      // full width
		"erase ", " erase", "era se", // spaces
		"erase\u00a0", "erase\u200b", // such that cannot be seen
		"erase\x00", "erase\n", "\terase", // control characters
		"erase\u202e", "e\u0301rase", "erase\U000e0041", "erase\xff", "",
		"erase.all", "a/b", "a:b", "a$b", "名前",
		"erase_with_a_name_that_is_longer_than_the_sixty_four_letters_that_", // 66
	} {
		model := &echo{}
		agent := newAgent(t, host.AgentConfig{Client: model, Tools: []host.Tool{saying("erase")}, Providers: []host.Provider{offering("plugin", saying(name))}})
		_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.ErrorIs(t, err, host.ErrToolName, "%q", name)
		require.ErrorContains(t, err, "tool of source plugin: ")
		require.Empty(t, model.requests)

		_, err = host.NewAgent(host.AgentConfig{Client: model, Tools: []host.Tool{saying(name)}})
		require.ErrorIs(t, err, host.ErrToolName, "%q", name)
	}
}
