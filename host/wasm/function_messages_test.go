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
	"github.com/weft-run/weft/host/wasm/engine"
	"github.com/weft-run/weft/message"
)

// asked has a plugin make calls in before_run, and returns what they returned.
func asked(t *testing.T, c wasm.Config, calls []step, before ...host.Provider) []string {
	t.Helper()
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	p, heard := script{"before_run": append(calls, out(`{}`))}.load(t, c)
	agent := newAgent(t, &model{}, append(before, p)...)
	_, err := agent.Run(t.Context(), host.Text("the question"), host.RunConfig{Session: agent.CreateSession("s")})
	require.NoError(t, err)
	require.Len(t, heard.all(), len(calls))
	return heard.all()
}

// adding is a provider that adds texts to the context.
func adding(source string, texts ...string) host.Provider {
	return host.BeforeRunFunc(source, func(_ context.Context, sc *host.SessionContext) error {
		for _, text := range texts {
			sc.ExtendMessages(message.User(text))
		}
		return nil
	})
}

// textsOf are the texts of the messages in an answer.
func textsOf(answer string) []string {
	parts := strings.Split(answer, `"text":"`)[1:]
	for i, p := range parts {
		parts[i], _, _ = strings.Cut(p, `"`)
	}
	return parts
}

func TestRangesOfMessagesAreClampedAndCountFromBothEnds(t *testing.T) {
	for input, want := range map[string]string{
		`{}`:                      `[a b c x] "start":0,"total":4`,
		`{"source_id":"docs"}`:    `[a b c] "start":0,"total":3`,
		`{"start":1,"count":2}`:   `[b c] "start":1,"total":4`,
		`{"start":-2}`:            `[c x] "start":2,"total":4`,
		`{"start":-99,"count":1}`: `[a] "start":0,"total":4`,
		`{"start":4}`:             `[] "start":4,"total":4`,
		`{"start":9,"count":9}`:   `[] "start":4,"total":4`,
		`{"count":0}`:             `[] "start":0,"total":4`,
		`{"start":2,"count":9}`:   `[c x] "start":2,"total":4`,
		`{"source_id":"nobody"}`:  `[] "start":0,"total":0`,
		`{"part":"input"}`:        `[the question] "start":0,"total":1`,
		`{"part":"input","start":-9223372036854775808,"count":9223372036854775807}`: `[the question] "start":0,"total":1`,
	} {
		answer := asked(t, wasm.Config{Grants: wasm.Grants{Read: []string{"input", "context:*"}}},
			[]step{{"get_messages", `{"ranges":[` + input + `]}`}}, adding("docs", "a", "b", "c"), adding("notes", "x"))[0]
		texts, at, _ := strings.Cut(want, "] ")
		require.Equal(t, texts+"]", "["+strings.Join(textsOf(answer), " ")+"]", input)
		require.True(t, strings.HasPrefix(answer, `{"ranges":[{"messages":[`) && strings.HasSuffix(answer, `],`+at+`}]}`), "%s: %s", input, answer)
	}
}

func TestSeveralRangesComeInTheirOrder(t *testing.T) {
	answer := asked(t, wasm.Config{Grants: wasm.Grants{Read: []string{"input", "context:docs"}}},
		[]step{{"get_messages", `{"ranges":[{"part":"input"},{"start":-1},{"count":1}]}`}}, adding("docs", "a", "b"), adding("notes", "x"))[0]
	require.JSONEq(t, `{"ranges":[
		{"messages":[{"role":"user","contents":[{"type":"text","text":"the question"}]}],"start":0,"total":1},
		{"messages":[{"role":"user","contents":[{"type":"text","text":"b"}],"source_id":"docs","source_type":"func"}],"start":1,"total":2},
		{"messages":[{"role":"user","contents":[{"type":"text","text":"a"}],"source_id":"docs","source_type":"func"}],"start":0,"total":2}
	]}`, answer, "of the context there is only what may be read")
}

// What a plugin added itself it may always read: here in a second run, from its own earlier hook.
func TestAPluginReadsItsOwnMessagesWithoutARight(t *testing.T) {
	p, heard := script{
		"before_run": {out(`{"extend_messages":[{"role":"user","text":"mine"}]}`)},
		"after_run":  {{"get_messages", `{"ranges":[{},{"source_id":"p"}]}`}, out(`{}`)},
	}.load(t, wasm.Config{})
	_, err := newAgent(t, &model{}, adding("docs", "a"), p).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, []string{"mine", "mine"}, textsOf(heard.all()[0]))
}

func TestMessagesThatMayNotBeReadAreDenied(t *testing.T) {
	for input, want := range map[string]string{
		`{"part":"input"}`:        `read: [response, input]`,
		`{"part":"request"}`:      `read: [response, request]`,
		`{"source_id":"docs"}`:    `read: [response, \"context:docs\"]`,
		`{"source_id":"../p"}`:    `read: [response, \"context:../p\"]`,
		`{"source_id":"P"}`:       `read: [response, \"context:P\"]`,
		`{"source_id":"p\u0000"}`: `denied`,
	} {
		answer := asked(t, wasm.Config{Grants: wasm.Grants{Read: []string{"response"}}},
			[]step{{"get_messages", `{"ranges":[` + input + `]}`}}, adding("docs", "secret"))[0]
		require.Contains(t, answer, `{"error":{"code":"denied"`, input)
		require.Contains(t, answer, want, input)
		require.NotContains(t, answer, "secret", input)
	}
}

func TestPartsThatAHookDoesNotHaveAreNotFound(t *testing.T) {
	g := wasm.Grants{Read: []string{"input", "response", "request", "context:*"}, Change: []string{"result"}}
	request, context := step{"get_messages", `{"ranges":[{"part":"request"}]}`}, step{"get_messages", `{"ranges":[{}]}`}
	response := step{"get_messages", `{"ranges":[{"part":"response"}]}`}

	answers := asked(t, wasm.Config{Grants: g}, []step{request, response})
	require.Equal(t, `{"error":{"code":"not_found","message":"get_messages: there is no request in before_run"}}`, answers[0])
	require.Contains(t, answers[1], "there is no response in before_run")

	p, heard := around(t, script{"process": {context, request, next(``), response, out(`{}`)}}, abi.LayerChat, wasm.Config{Grants: g})
	_, err := agentWith(t, &model{}, p.ForLayer(), adding("docs", "a")).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Contains(t, heard.all()[0], "there is no context in process at the layer chat")
	require.Equal(t, []string{"a", "hi"}, textsOf(heard.all()[1]), "the request holds the context and the input")
	require.Equal(t, []string{"ok"}, textsOf(heard.all()[3]))
}

// Messages that nobody asks for cost nothing: one that cannot be written is no error unless it is in a range.
func TestMessagesOutsideOfTheRangesAreNotTouched(t *testing.T) {
	answers := asked(t, wasm.Config{Grants: wasm.Grants{Read: []string{"context:*"}}}, []step{
		{"get_messages", `{"ranges":[{"start":-1},{"count":1}]}`}, {"get_messages", `{"ranges":[{"start":1,"count":1}]}`},
	}, adding("docs", "first", "\xff", "last"))
	require.Equal(t, []string{"last", "first"}, textsOf(answers[0]))
	require.Contains(t, answers[1], `{"error":{"code":"internal","message":"get_messages: what it would return cannot be written as JSON`)
}

func TestAllRangesTogetherAreBounded(t *testing.T) {
	c := wasm.Config{Grants: wasm.Grants{Read: []string{"context:*"}}, Limits: wasm.Limits{Input: 2000, LogLine: engine.Unlimited}}
	docs := adding("docs", strings.Repeat("x", 1200))
	answers := asked(t, c, []step{{"get_messages", `{"ranges":[{}]}`}, {"get_messages", `{"ranges":[{},{}]}`}}, docs)
	require.Contains(t, answers[0], "xxx")
	require.JSONEq(t, `{"error":{"code":"limit","message":"get_messages: what it would return has more than the 2000 bytes that it may have: `+
		`ask for less at once, or raise limits.input"}}`, answers[1])

	answers = asked(t, c, []step{{"get_messages", `{"ranges":[{}]}`}}, adding("docs", strings.Repeat("x", 2000), "\xff"))
	require.Contains(t, answers[0], `"code":"limit"`, "what is beyond is not looked at")

	c.Limits.Input = engine.Unlimited
	answers = asked(t, c, []step{{"get_messages", `{"ranges":[{},{}]}`}}, docs)
	require.Len(t, textsOf(answers[0]), 2)

	c.Limits.Input = 2000
	answers = asked(t, c, []step{{"get_messages", `{"later":"` + strings.Repeat("x", 2000) + `","ranges":[{}]}`}}, docs)
	require.Contains(t, answers[0], "its input has 2026 bytes, more than the 2000 that it may have: give less, or raise limits.input")
}

func TestInputThatIsNoneIsToldAsData(t *testing.T) {
	for _, name := range []string{
		"get_messages", "kv_get", "kv_set", "kv_delete", "kv_list", "complete", "embed", "search", "index_put", "index_delete", "emit", "request",
	} {
		c := wasm.Config{Grants: everyRight, Services: everyService(t)}
		answers := asked(t, c, []step{{name, `{"scope":1`}, {name, ``}})
		require.Contains(t, answers[0], `{"error":{"code":"invalid_input","message":"`+name+`: `)
		require.Contains(t, answers[1], name+": the input is empty; a JSON object was wanted")
	}
}
