package wasm_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/message"
)

// oracle is a model for plugins.
type oracle struct {
	model
	mu     sync.Mutex
	asked  []*host.ChatRequest
	answer func(ctx context.Context, r *host.ChatRequest) (*host.Response, error)
	own    host.Options
}

func (o *oracle) Complete(ctx context.Context, r *host.ChatRequest) (*host.Response, error) {
	o.mu.Lock()
	o.asked = append(o.asked, r)
	o.mu.Unlock()
	if o.answer == nil {
		return host.NewResponse("yes"), nil
	}
	return o.answer(ctx, r)
}

func (o *oracle) DefaultOptions() host.Options { return o.own }

// mayComplete are the rights to ask a model that often.
func mayComplete(calls, tokens int) wasm.Grants {
	return wasm.Grants{Complete: &abi.Budget{Calls: calls, Tokens: tokens}}
}

const hello = `{"messages":[{"role":"user","text":"hello"}]}`

func TestAPluginAsksTheHostsModel(t *testing.T) {
	o := &oracle{
		own: host.Options{Model: "small", Temperature: new(0.9), Seed: new(4), ConversationID: "c", Instructions: "The house's.", Extra: map[string]jsontext.Value{"tier": jsontext.Value(`1`)}},
		answer: func(context.Context, *host.ChatRequest) (*host.Response, error) {
			return &host.Response{
				Messages: []*message.Message{message.Assistant("yes")}, FinishReason: host.FinishStop, ConversationID: "kept",
				Usage: &host.Usage{InputTokens: 7, OutputTokens: 3},
			}, nil
		},
	}
	answer := asked(t, wasm.Config{Grants: mayComplete(1, 1000), Services: wasm.Services{Model: o}}, []step{{"complete", `{
		"messages":[{"role":"system","text":"s","source_id":"somebody else"},{"role":"user","text":"hello"}],"instructions":"Be brief.",
		"options":{"temperature":0.1,"max_tokens":50,"stop":["."],"response_format":{"name":"n","schema":{"type":"object"}},"tier":2}}`}})[0]
	require.JSONEq(t, `{"response":{"messages":[{"role":"assistant","contents":[{"type":"text","text":"yes"}]}],"finish_reason":"stop",
		"usage":{"input_tokens":7,"output_tokens":3}}}`, answer)
	r := o.asked[0]
	require.Equal(t, []string{"p", "p"}, []string{r.Messages[0].SourceID, r.Messages[1].SourceID}, "whatever the plugin claims")
	require.Equal(t, "Be brief.\nThe house's.", r.Instructions)
	require.Equal(t, host.Options{
		Model: "small", Temperature: new(0.1), Seed: new(4), MaxTokens: new(50), Stop: []string{"."}, Store: new(false),
		ResponseFormat: &host.ResponseFormat{Name: "n", Schema: jsontext.Value(`{"type":"object"}`)},
		Extra:          map[string]jsontext.Value{"tier": jsontext.Value(`1`)},
	}, r.Options)
	require.Empty(t, r.Tools)
}

func TestAPluginWithoutABudgetAsksNoModel(t *testing.T) {
	o := &oracle{}
	answers := asked(t, wasm.Config{Services: wasm.Services{Model: o, Embedder: lengths{}}}, []step{{"complete", hello}, {"embed", `{"texts":["a"]}`}})
	require.Equal(t, `{"error":{"code":"denied","message":"complete is not granted to this plugin: if it should be, add to its entry grant: {complete: {calls: 1, tokens: 4000}}"}}`, answers[0])
	require.Contains(t, answers[1], "grant: {embed: {calls: 1, tokens: 4000}}")
	require.Empty(t, o.asked)
}

func TestTheCallsOfARunAreBounded(t *testing.T) {
	c := wasm.Config{Grants: mayComplete(2, 1000), Services: wasm.Services{Model: &oracle{}, Embedder: lengths{}}}
	c.Grants.Embed = &abi.Budget{Calls: 1, Tokens: 100}
	embedding := step{"embed", `{"texts":["a"]}`}
	p, heard := script{
		"before_run": {{"complete", hello}, embedding, {"complete", hello}, {"complete", hello}, embedding, out(`{}`)},
		"after_run":  {{"complete", hello}, out(`{}`)},
	}.load(t, c)
	agent := newAgent(t, &model{}, p)
	for range 2 { // each run has its own budget
		_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.NoError(t, err)
	}
	all := heard.all()
	require.Len(t, all, 12)
	for _, run := range [][]string{all[:6], all[6:]} {
		for i, want := range []string{`"yes"`, `"vectors"`, `"yes"`, "the 2 calls of one run are used up: ask for more at once, or raise calls in grant: {complete: …}", "the 1 calls of one run", "the 2 calls"} {
			require.Contains(t, run[i], want)
		}
		require.Contains(t, run[3], `"code":"limit"`)
	}
}

func TestTheTokensOfARunAreBounded(t *testing.T) {
	usage := &host.Usage{InputTokens: 60, OutputTokens: 30}
	o := &oracle{answer: func(context.Context, *host.ChatRequest) (*host.Response, error) {
		r := host.NewResponse("yes")
		r.Usage = usage
		return r, nil
	}}
	limited := `{"messages":[{"role":"user","text":"hello"}],"options":{"max_tokens":5000}}`
	answers := asked(t, wasm.Config{Grants: mayComplete(10, 100), Services: wasm.Services{Model: o}},
		[]step{{"complete", limited}, {"complete", hello}, {"complete", hello}})
	require.Len(t, o.asked, 2)
	require.Equal(t, 100, *o.asked[0].Options.MaxTokens)
	require.Equal(t, 10, *o.asked[1].Options.MaxTokens, "what is left")
	require.Contains(t, answers[2], `"code":"limit","message":"complete: the 100 tokens of one run are used up: ask for less, or raise tokens in grant: {complete: …}"`)

	o.asked = nil
	answers = asked(t, wasm.Config{Grants: mayComplete(10, 100), Services: wasm.Services{Model: o}},
		[]step{{"complete", `{"messages":[{"role":"user","text":"` + strings.Repeat("word", 101) + `"}]}`}})
	require.Contains(t, answers[0], "what it was given has about 101 tokens, and 100 of the run's 100 are left")
	require.Empty(t, o.asked)

	asked(t, wasm.Config{Grants: mayComplete(10, 100_000), Services: wasm.Services{Model: o}}, []step{{"complete", hello}})
	require.Equal(t, 4096, *o.asked[0].Options.MaxTokens, "where nobody says")
}

// Where the client does not tell what a call cost, it is guessed from the texts.
func TestTokensThatNobodyCountedAreGuessed(t *testing.T) {
	o := &oracle{answer: func(context.Context, *host.ChatRequest) (*host.Response, error) {
		return host.NewResponse(strings.Repeat("word", 30)), nil
	}}
	image := `{"messages":[{"role":"user","contents":[{"type":"uri","uri":"data:,` + strings.Repeat("0", 100_000) + `"}]}]}`
	answers := asked(t, wasm.Config{Grants: mayComplete(10, 2000), Services: wasm.Services{Model: o}}, []step{{"complete", hello}, {"complete", image}, {"complete", hello}})
	require.Equal(t, 2000-2-30, *o.asked[1].Options.MaxTokens)
	require.Equal(t, 2000-2*30-2-1024, *o.asked[2].Options.MaxTokens, "the bytes of an image are no tokens")
	require.Contains(t, answers[2], "word")
}

// Calls of tools run at the same time: together they have the one budget of the run.
func TestConcurrentCallsNeverGoBeyondTheBudget(t *testing.T) {
	const calls, budget = 32, 5
	together := make(chan struct{})
	var once sync.Once
	o := &oracle{}
	o.answer = func(context.Context, *host.ChatRequest) (*host.Response, error) {
		once.Do(func() { close(together) })
		return host.NewResponse("yes"), nil
	}
	g := mayComplete(budget, 100_000)
	g.Add = []string{"tools"}
	p, heard := script{
		"before_run": {out(`{"extend_tools":[{"name":"ask"}]}`)},
		"call_tool":  {{"complete", hello}, out(`{"result":1}`)},
	}.load(t, wasm.Config{Grants: g, Services: wasm.Services{Model: o}})
	wants := &message.Message{Role: message.RoleAssistant}
	for i := range calls {
		wants.Contents = append(wants.Contents, message.FunctionCall{CallID: fmt.Sprint(i), Name: "ask", Arguments: jsontext.Value(`{}`)})
	}
	replies := []*host.Response{{Messages: []*message.Message{wants}}, host.NewResponse("done")}
	m := &oracle{answer: func(context.Context, *host.ChatRequest) (*host.Response, error) {
		next := replies[0]
		replies = replies[1:]
		return next, nil
	}}
	_, err := newAgent(t, m, p).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Len(t, heard.all(), calls)
	require.Len(t, o.asked, budget)
	refused := 0
	for _, answer := range heard.all() {
		if strings.Contains(answer, `"code":"limit"`) {
			refused++
		}
	}
	require.Equal(t, calls-budget, refused)
}

func TestPluginsOfARunHaveTheirOwnBudgets(t *testing.T) {
	o := &oracle{}
	s := script{"before_run": {{"complete", hello}, {"complete", hello}, out(`{}`)}}
	c := wasm.Config{Grants: mayComplete(1, 1000), Services: wasm.Services{Model: o}}
	first, one := s.load(t, c)
	c.SourceID = "q"
	second, two := s.load(t, c)
	_, err := newAgent(t, &model{}, first, second).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	for _, heard := range []*answers{one, two} {
		require.Contains(t, heard.all()[0], "yes")
		require.Contains(t, heard.all()[1], `"code":"limit"`)
	}
}

func TestWhatAModelFailsOfIsToldInTheHostsWords(t *testing.T) {
	const key = "sk-not-for-plugins"
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("key " + key), "complete: the model failed; the host's log says why"},
		{&host.ModelError{Err: errors.New("key " + key)}, "complete: the model failed; the host's log says why"},
		{&host.ModelError{Kind: host.ErrAuthentication, Status: 401, Err: errors.New("Incorrect API key provided: " + key)}, "complete: authentication failed (401 Unauthorized)"},
		{&host.ModelError{Kind: fmt.Errorf("%w: %s", host.ErrRateLimited, key), Status: 429, RetryAfter: 3 * time.Second}, "complete: rate limited (429 Too Many Requests): try again after 3s"},
		{&host.ModelError{Kind: errors.New(key)}, "complete: the model failed; the host's log says why"},
		{context.DeadlineExceeded, "complete: the model failed; the host's log says why"},
	} {
		var log lockedBuffer
		o := &oracle{answer: func(context.Context, *host.ChatRequest) (*host.Response, error) { return nil, c.err }}
		answer := asked(t, wasm.Config{Grants: mayComplete(1, 100), Services: wasm.Services{Model: o}, Logger: log.logger()}, []step{{"complete", hello}})[0]
		require.Equal(t, `{"error":{"code":"model","message":"`+c.want+`"}}`, answer)
		require.Contains(t, log.String(), c.err.Error()[len(c.err.Error())-8:], "the operator sees all")
	}
	o := &oracle{answer: func(context.Context, *host.ChatRequest) (*host.Response, error) { return nil, nil }}
	answer := asked(t, wasm.Config{Grants: mayComplete(1, 100), Services: wasm.Services{Model: o}}, []step{{"complete", hello}})[0]
	require.Contains(t, answer, "complete: bad reply")
}

// A call that failed is a call: a plugin cannot try for ever.
func TestAFailedCallCounts(t *testing.T) {
	o := &oracle{answer: func(context.Context, *host.ChatRequest) (*host.Response, error) { return nil, errors.New("down") }}
	answers := asked(t, wasm.Config{Grants: mayComplete(1, 100), Services: wasm.Services{Model: o}}, []step{{"complete", hello}, {"complete", hello}})
	require.Contains(t, answers[0], `"code":"model"`)
	require.Contains(t, answers[1], `"code":"limit"`)
}

func TestAnAnswerThatIsTooLongForThePluginIsALimit(t *testing.T) {
	o := &oracle{answer: func(context.Context, *host.ChatRequest) (*host.Response, error) {
		return host.NewResponse(strings.Repeat("x", 3000)), nil
	}}
	c := wasm.Config{Grants: mayComplete(1, 10_000), Services: wasm.Services{Model: o}, Limits: wasm.Limits{Input: 2000}}
	require.Contains(t, asked(t, c, []step{{"complete", hello}})[0], "complete: what it would return has more than the 2000 bytes")
}

// hanging waits until it is told to end.
type hanging struct{ oracle }

func (*hanging) Complete(ctx context.Context, _ *host.ChatRequest) (*host.Response, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (*hanging) Embed(ctx context.Context, _ *host.EmbedRequest) (*host.EmbedResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestAModelThatHangsEndsWithTheRun(t *testing.T) {
	for name, call := range map[string]step{"complete": {"complete", hello}, "embed": {"embed", `{"texts":["a"]}`}} {
		t.Run(name, func(t *testing.T) {
			var log lockedBuffer
			p, heard := script{"before_run": {call, out(`{}`)}}.load(t, wasm.Config{
				Grants: everyRight, Services: func() wasm.Services {
					s := everyService(t)
					s.Model, s.Embedder = &hanging{}, &hanging{}
					return s
				}(), OnError: host.OnErrorSkip, Logger: log.logger(),
			})
			endsWithTheRun(t, p, heard)
			require.NotContains(t, log.String(), "the model failed", "nobody is at fault")
		})
	}
}

// The time that a model takes is not the plugin's.
func TestTheTimeOfAModelIsNotThePlugins(t *testing.T) {
	o := &oracle{answer: func(context.Context, *host.ChatRequest) (*host.Response, error) {
		time.Sleep(200 * time.Millisecond) // longer than the plugin may run
		return host.NewResponse("yes"), nil
	}}
	c := wasm.Config{Grants: mayComplete(1, 1000), Services: wasm.Services{Model: o}, Limits: wasm.Limits{CPU: 100 * time.Millisecond}}
	require.Contains(t, asked(t, c, []step{{"complete", hello}})[0], "yes")
}

// complete reaches the model and nothing else of the agent: neither its tools nor its middleware, nor the plugin itself.
func TestNoWayLeadsBackIntoThePlugin(t *testing.T) {
	o := &oracle{}
	wrapped := 0
	p, heard := script{"before_run": {{"complete", hello}, out(`{"extend_instructions":["seen"]}`)}}.load(t,
		wasm.Config{Grants: mayComplete(5, 1000), Services: wasm.Services{Model: o}})
	agent := agentWith(t, o, host.Middleware{Chat: []host.ChatMiddleware{host.ChatFunc(func(ctx context.Context, _ *host.ChatContext, next host.Next) error {
		wrapped++
		return next(ctx)
	})}}, p)
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Len(t, heard.all(), 1)
	require.Len(t, o.asked, 2, "the plugin's call and the run's")
	require.Equal(t, 1, wrapped)
	require.Empty(t, o.asked[0].Instructions)
	require.Equal(t, "seen", o.asked[1].Instructions)
}

// An operator who gives plugins a model that is the agent itself gets an end to it, and no deadlock.
func TestAModelThatRunsThePluginAgainIsBoundedInDepth(t *testing.T) {
	var agent *host.Agent
	runs := 0
	o := &oracle{answer: func(ctx context.Context, _ *host.ChatRequest) (*host.Response, error) {
		runs++
		return agent.Run(ctx, host.Text("again"), host.RunConfig{})
	}}
	p, heard := script{"before_run": {{"complete", hello}, out(`{}`)}}.load(t, wasm.Config{Grants: mayComplete(5, 10_000), Services: wasm.Services{Model: o}})
	agent = newAgent(t, &lockedModel{}, p)
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Greater(t, runs, 1)
	require.LessOrEqual(t, runs, 20)
	require.Contains(t, heard.all()[0], `"code":"model"`, "the innermost call was refused")
	require.Contains(t, heard.all()[1], `"response"`)
}

func TestAPluginEmbedsTexts(t *testing.T) {
	c := wasm.Config{Grants: wasm.Grants{Embed: &abi.Budget{Calls: 9, Tokens: 10}}, Services: wasm.Services{Embedder: lengths{}}}
	answers := asked(t, c, []step{
		{"embed", `{"texts":["a","","four"]}`},
		{"embed", `{"texts":["` + strings.Repeat("word", 11) + `"]}`},
		{"embed", `{"texts":["` + strings.Repeat("word", 8) + `"]}`},
		{"embed", `{"texts":["a"]}`},
	})
	require.Equal(t, `{"vectors":[[1,0.5],[0,0.5],[4,0.5]]}`, answers[0])
	require.Contains(t, answers[1], "what it was given has about 11 tokens, and 8 of the run's 10 are left")
	require.Contains(t, answers[2], "vectors")
	require.Contains(t, answers[3], "the 10 tokens of one run are used up")
}

// embedderFunc is an embedder.
type embedderFunc func(*host.EmbedRequest) (*host.EmbedResponse, error)

func (f embedderFunc) Embed(_ context.Context, r *host.EmbedRequest) (*host.EmbedResponse, error) {
	return f(r)
}

func TestVectorsThatAreNoneAreAModelsFault(t *testing.T) {
	for name, c := range map[string]struct {
		response *host.EmbedResponse
		want     string
	}{
		"none":         {nil, "embed: bad reply"},
		"too few":      {&host.EmbedResponse{Vectors: [][]float32{{1}}}, "embed: bad reply"},
		"not a number": {&host.EmbedResponse{Vectors: [][]float32{{1}, {float32(math.NaN())}}}, "embed: bad reply"},
		"infinite":     {&host.EmbedResponse{Vectors: [][]float32{{1}, {float32(math.Inf(-1))}}}, "embed: bad reply"},
		"too large":    {&host.EmbedResponse{Vectors: [][]float32{{1}, make([]float32, 3000)}}, "embed: what it would return has more than the 4000 bytes"},
		"small and large numbers": {&host.EmbedResponse{
			Vectors: [][]float32{{math.MaxFloat32, -math.SmallestNonzeroFloat32}, {}}, Usage: &host.Usage{InputTokens: 99},
		}, `{"vectors":[[3.4028235e+38,-1e-45],[]]}`},
	} {
		t.Run(name, func(t *testing.T) {
			embedder := embedderFunc(func(*host.EmbedRequest) (*host.EmbedResponse, error) { return c.response, nil })
			answer := asked(t, wasm.Config{
				Grants: wasm.Grants{Embed: &abi.Budget{Calls: 1, Tokens: 100}}, Services: wasm.Services{Embedder: embedder}, Limits: wasm.Limits{Input: 4000},
			}, []step{{"embed", `{"texts":["a","b"]}`}})[0]
			require.Contains(t, answer, c.want)
			require.True(t, jsontext.Value(answer).IsValid(), answer)
		})
	}
}
