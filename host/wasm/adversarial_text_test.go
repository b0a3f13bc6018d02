package wasm_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/message"
)

// hidden are characters that nobody sees, raw and as JSON escapes them, around a family that a joiner of zero width makes.
const (
	hidden  = "a\u202e\U000E0041\u2066\U000E007Fb\u2069\\u202a\\udb40\\udc20 \U0001F468\u200d\U0001F469"
	visible = "ab \U0001F468\u200d\U0001F469"
)

// A person who reads what a plugin added reads what the model reads.
func TestCharactersThatNobodySeesAreTakenOutOfWhatAPluginAdds(t *testing.T) {
	t.Run("messages, instructions and tools", func(t *testing.T) {
		m := &model{}
		p, _ := script{
			"before_run": {out(`{"extend_messages":[{"role":"user","text":"` + hidden + `","author_name":"` + hidden + `"}],"extend_instructions":["` + hidden + `"],
				"extend_tools":[{"name":"t","description":"` + hidden + `","parameters":{"type":"object","description":"` + hidden + `"}}]}`)},
			"call_tool": {out(`{}`)},
		}.load(t, wasm.Config{Grants: all, Logger: slog.New(slog.DiscardHandler)})
		var costs []host.Cost
		_, err := newAgent(t, m, p).Run(t.Context(), host.Text("hi"), host.RunConfig{
			Tracer: host.TraceFunc(func(_ context.Context, h host.HookTrace) {
				if h.Hook == "before_run" {
					costs = h.Costs
				}
			}),
		})
		require.NoError(t, err)
		require.Equal(t, visible, m.requests[0].Messages[0].Text())
		require.Equal(t, visible, m.requests[0].Messages[0].AuthorName)
		require.Equal(t, visible, m.requests[0].Instructions)
		require.Equal(t, visible, m.requests[0].Tools[0].Definition().Description)
		require.JSONEq(t, `{"type":"object","description":"`+visible+`"}`, string(m.requests[0].Tools[0].Definition().Parameters.JSON()))
		require.EqualValues(t, 35, p.InvisibleCharacters())
		require.Equal(t, host.Cost{Name: "invisible", Used: 35, Unit: "characters"}, costs[len(costs)-1])
	})
	for name, c := range map[string]struct {
		s    script
		want string
	}{
		"a response": {script{"process": {next(``), out(`{"response":{"text":"` + hidden + `"}}`)}}, visible},
		"an update":  {script{"on_update": {out(`{"updates":[{"text":"` + hidden + `"}]}`)}}, visible + visible}, // and at the end
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := around(t, c.s, abi.LayerChat, wasm.Config{})
			r, err := agentWith(t, &model{}, p.ForLayer()).Stream(t.Context(), host.Text("hi"), host.RunConfig{}).Response()
			require.NoError(t, err)
			require.Equal(t, c.want, r.Text())
			require.Positive(t, p.InvisibleCharacters())
		})
	}
	t.Run("what call_next is given", func(t *testing.T) {
		m := &model{}
		p, _ := around(t, script{"process": {next(`{"splice":[{"insert":[{"role":"user","text":"` + hidden + `"}]}],"instructions":"` + hidden + `"}`), out(`{}`)}}, abi.LayerChat, wasm.Config{})
		_, err := agentWith(t, m, p.ForLayer()).Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.NoError(t, err)
		require.Equal(t, visible, m.requests[0].Messages[1].Text())
		require.Equal(t, visible, m.requests[0].Instructions)
	})
	t.Run("the result of a tool", func(t *testing.T) {
		p, _ := script{
			"before_run": {out(`{"extend_tools":[{"name":"add"}]}`)}, "call_tool": {out(`{"result":{"n": 1.50,"text":"` + hidden + `"}}`)},
		}.load(t, wasm.Config{Grants: all})
		r, err := newAgent(t, &callsAdd{}, p).Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.NoError(t, err)
		result := r.Messages[1].Contents[0].(message.FunctionResult)
		require.Equal(t, `{"n": 1.50,"text":"`+visible+`"}`, string(result.Result), "all else keeps its bytes")
	})
}

// What the user said is the user's, whoever hands it on.
func TestMessagesThatMiddlewareHandsOnKeepTheirCharacters(t *testing.T) {
	m := &model{}
	raw := strings.ReplaceAll(strings.ReplaceAll(hidden, `\u202a`, ""), `\udb40\udc20`, "")
	p, _ := around(t, script{"process": {next(`{"messages":[{"role":"user","contents":[{"type":"text","text":"` + raw + `"}]}]}`), out(`{}`)}}, abi.LayerChat, wasm.Config{})
	_, err := agentWith(t, m, p.ForLayer()).Run(t.Context(), host.Text(raw), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, raw, m.requests[0].Messages[0].Text())
	require.False(t, m.requests[0].Messages[0].Untrusted)
	require.Zero(t, p.InvisibleCharacters())
}

func TestTextThatIsNoneIsRefusedWhole(t *testing.T) {
	for name, output := range map[string]string{
		"U+0000":                  `{"extend_messages":[{"role":"user","text":"a\u0000b"}],"extend_instructions":["x"]}`,
		"U+0000 in instructions":  `{"extend_instructions":["a\u0000b"]}`,
		"a name nobody can read":  `{"extend_tools":[{"name":"t","parameters":{"properties":{"a\u202eb":{}}}}]}`,
		"half of a character":     `{"extend_messages":[{"role":"user","text":"\ud800"}]}`,
		"bytes that are no UTF-8": "{\"extend_messages\":[{\"role\":\"user\",\"text\":\"\xff\"}]}",
	} {
		t.Run(name, func(t *testing.T) {
			m := &model{}
			p, _ := script{"before_run": {out(output)}, "call_tool": {out(`{}`)}}.load(t, wasm.Config{Grants: all})
			_, err := newAgent(t, m, p).Run(t.Context(), host.Text("hi"), host.RunConfig{})
			var refused *abi.OutputError
			require.ErrorAs(t, err, &refused)
			require.NotEmpty(t, refused.Pointer)
			require.Empty(t, m.requests)
		})
	}
}
