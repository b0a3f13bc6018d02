package offline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/schema"
	"github.com/weft-run/weft/message"
)

// declared is a tool that is only offered.
type declared host.ToolDefinition

func (d declared) Definition() host.ToolDefinition { return host.ToolDefinition(d) }

func offered(name, description, document string) host.OfferedTool {
	d := declared{Name: name, Description: description}
	if document != "" {
		d.Parameters = schemaOf(document)
	}
	return host.OfferedTool{Tool: d}
}

func schemaOf(document string) host.Schema {
	s, err := schema.Parse([]byte(document))
	if err != nil {
		return brokenSchema{document, err}
	}
	return s
}

// brokenSchema is one that somebody made by hand: nothing fits it.
type brokenSchema struct {
	document string
	err      error
}

func (b brokenSchema) JSON() []byte                  { return []byte(b.document) }
func (b brokenSchema) Validate(jsontext.Value) error { return b.err }

// workshop is a tool for each kind of argument.
var workshop = []host.OfferedTool{
	offered("clock", "Tells the time.", ""),
	offered("get_weather", "Tells the weather of a city.", `{"type":"object","properties":{
		"city":{"type":"string"},"days":{"type":"integer","minimum":1,"maximum":14},
		"unit":{"enum":["celsius","fahrenheit"]}},"required":["city"]}`),
	offered("add", "Adds two numbers.", `{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}`),
	offered("sum", "Adds up numbers.", `{"type":"object","properties":{"numbers":{"type":"array","items":{"type":"number"}}},"required":["numbers"]}`),
	offered("translate", "Puts a text into another language.", `{"type":"object","properties":{
		"text":{"type":"string"},"language":{"type":"string"},"formal":{"type":"boolean"}},"required":["text","language"]}`),
	offered("paint", "Paints a wall.", `{"type":"object","properties":{
		"colours":{"type":"array","items":{"enum":["red","green","light blue"]}},"coats":{"type":["integer","null"]},"wet":{"type":"boolean"}},
		"required":["colours","wet"]}`),
	offered("tag-note", "Puts tags on a note.", `{"properties":{"tags":{"type":"array","items":{"type":"string"}}},"required":["tags"]}`),
	offered("save", "Keeps an object.", `{"type":"object","properties":{"key":{},"object":{"type":"object"}},"required":["object"]}`),
	offered("broken", "Has no schema.", `{"type":7}`),
}

// replyTo is a reply as the golden files show it: its text, or its calls, a line each.
func replyTo(t testing.TB, request *host.ChatRequest) string {
	t.Helper()
	response, err := New(Config{}).Complete(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	text := response.Text()
	for _, c := range callsOf(response) {
		text += fmt.Sprintf("→ %s %s\n", c.Name, c.Arguments)
	}
	return strings.TrimSuffix(text, "\n")
}

func callsOf(r *host.Response) []message.FunctionCall {
	var out []message.FunctionCall
	for _, m := range r.Messages {
		for _, content := range m.Contents {
			if c, ok := content.(message.FunctionCall); ok {
				out = append(out, c)
			}
		}
	}
	return out
}

// TestGoldenCalls keeps what is called for which question: testdata/calls.golden is to be read.
func TestGoldenCalls(t *testing.T) {
	required := host.ToolChoice{Mode: host.ToolChoiceRequired}
	scenes := []struct {
		name      string
		choice    host.ToolChoice
		questions []string
	}{
		{"a tool that takes nothing", host.ToolChoice{}, []string{
			"What does the clock say?", "CLOCK!", "/clock", "Call `clock`, please.", "What is a clockwork?", "Is it o'clock?",
			"clock-like", "What about clock.go?", "What time is it?", "Hello!", "Call the clock and the clock.",
			`Write "the clock is late" on a card.`,
		}},
		{"a text that is the rest", host.ToolChoice{}, []string{
			"get_weather Paris", "What is the weather? Get weather for Paris.", "Please get-weather in New York!", "get_weather: Paris",
			"get_weather for Paris, 3 days", `get weather city "New York" days 3`, "get_weather city: New York, days: 3",
			"get_weather city=Paris", "get_weather city: New York, please", "Get weather with city “San José” for 3 days in celsius",
			"get_weather Paris in fahrenheit", "get_weather city is Paris and days 3", "With city=Paris and days=3, get_weather.",
			"get_weather days=3 unit=Celsius Paris", "get_weather - Paris?", `get_weather "Paris, Texas" days=2`,
			`get_weather {"city": "Paris", "days": 2}`, "Use get_weather to get weather for St. Ives", "get_weather 巴黎",
			"get_weather", "get_weather for?", "get_weather Paris days=many", "get_weather Paris days=2.5", "get_weather days=99 city=Paris",
			"get_weather days=3", `get_weather {"days": 2}`, `get_weather {"city": `, "get_weather unit=kelvin Paris", "city=Paris",
			`get_weather city=""`,
		}},
		{"numbers", host.ToolChoice{}, []string{
			"add 2 and 3", "add a=2 b=-3.5", "add b: 1, a: 2", "What is add 2, 1e3?", "add a 1 to b 2", "add 007 and -0", "add 1",
			"add 2026-11-21 and 3", "add 1e999 and 1", `add a="1" b='2'`, "add two and three",
			"sum 1, 2 and 3.5", "sum numbers=1,2, 3", "sum numbers: 1 and 2", "sum [1, 2]", "sum numbers=[1,2]", "sum numbers=1,x", "sum",
		}},
		{"texts, truth, choices and lists", host.ToolChoice{}, []string{
			`translate "good morning" "German"`, "translate text: good morning, language: German", "translate text good morning to language German formal true",
			`translate text="it's late" language=German formal=FALSE`, `translate "good morning" to German`, "translate good morning to German",
			"translate language=German good morning", "translate formal=perhaps text=a language=b",
			"paint red and light blue, wet true", "paint it green, wet: false, 2 coats", "paint wet=true", "paint colours=red,pink wet=true",
			"paint colours=green, red wet=true coats=3", "tag note: one, two and “three, four”", "tag-note tags=a,b", "tag_note",
			`save {"object": {"x": [1]}}`, `save object={"x": 1} key=7`, "save key=true object: {}", "save object=x", "broken",
		}},
		{"several", host.ToolChoice{}, []string{
			"Call get_weather for Paris, then clock, and add 1 and 2.", "add 1 2, clock, add 3 4", "add 1 2, clock, add 1 2",
			"get_weather and add, and the clock", "translate text=clock language=German", `translate "the clock is late" "German"`,
		}},
		{"none may be called", host.ToolChoice{Mode: host.ToolChoiceNone}, []string{"What does the clock say?", "add 1 2"}},
		{"one must be called", required, []string{
			"add 1 2", "Hello!", "How is the weather in Paris?", "What is it, 1 plus 2?", "Which numbers are these?", "",
		}},
		{"add must be called", host.ToolChoice{Mode: host.ToolChoiceRequired, Function: "add"}, []string{"1 and 2", "clock", "add 3 4, clock"}},
		{"a stranger must be called", host.ToolChoice{Mode: host.ToolChoiceRequired, Function: "mow"}, []string{"mow"}},
	}
	var b strings.Builder
	for _, s := range scenes {
		fmt.Fprintf(&b, "== %s ==\n\n", s.name)
		for _, q := range s.questions {
			request := requestFor("The clock is in the hall.", q)
			request.Tools, request.Options.ToolChoice = workshop, s.choice
			fmt.Fprintf(&b, "> %s\n%s\n\n", q, replyTo(t, request))
		}
	}
	compareGolden(t, "testdata/calls.golden", b.String())
}

func TestCallsAreOneUpdate(t *testing.T) {
	request := requestFor("", "add 1 2 and get_weather Paris")
	request.Tools = workshop
	whole, err := New(Config{}).Complete(t.Context(), request)
	require.NoError(t, err)
	assert.Equal(t, host.FinishToolCalls, whole.FinishReason)
	assert.Len(t, callsOf(whole), 2)
	assert.Equal(t, &host.Usage{
		InputTokens:  CountTokens("add 1 2 and get_weather Paris"),
		OutputTokens: CountTokens("add") + CountTokens(`{"a":1,"b":2}`) + CountTokens("get_weather") + CountTokens(`{"city":"Paris"}`),
	}, whole.Usage)
	n := 0
	for u, err := range New(Config{}).Stream(t.Context(), request) {
		require.NoError(t, err)
		assert.Equal(t, &host.Update{
			Role: message.RoleAssistant, Contents: whole.Messages[0].Contents, FinishReason: host.FinishToolCalls, Usage: whole.Usage,
		}, u)
		n++
	}
	assert.Equal(t, 1, n)
}

func TestCallIDs(t *testing.T) {
	ask := func(before ...*message.Message) []string {
		request := requestFor("", "clock, add 1 2", before...)
		request.Tools = workshop
		response, err := New(Config{}).Complete(t.Context(), request)
		require.NoError(t, err)
		var ids []string
		for _, c := range callsOf(response) {
			ids = append(ids, c.CallID)
		}
		require.Len(t, ids, 2)
		return ids
	}
	first := ask()
	assert.Equal(t, first, ask(), "the same request has the same ids")
	made := message.New(message.RoleAssistant, message.FunctionCall{CallID: first[0]}, message.FunctionCall{CallID: first[1]})
	// The host hides calls that wait for approval: then only the message of the user tells that there was a turn before.
	hidden := ask(said("clock, add 1 2"))
	all := append(append(append([]string{}, first...), ask(said("clock, add 1 2"), made)...), hidden...)
	seen := map[string]bool{}
	for _, id := range all {
		seen[id] = true
	}
	assert.Len(t, seen, len(all), "%v", all)
	taken := message.New(message.RoleAssistant, message.FunctionCall{CallID: strings.Replace(first[0], "call_1", "call_2", 1)})
	assert.NotEqual(t, taken.Contents[0].(message.FunctionCall).CallID, ask(taken)[0], "an id that is taken is passed over")
}

func TestResultsAreTold(t *testing.T) {
	call := func(id, name string) message.Content { return message.FunctionCall{CallID: id, Name: name} }
	gives := func(id, json string) message.Content {
		return message.FunctionResult{CallID: id, Result: jsontext.Value(json)}
	}
	turn := func(calls []message.Content, results ...message.Content) []*message.Message {
		return []*message.Message{
			message.User("clock and get_weather Paris"), message.New(message.RoleAssistant, calls...), message.New(message.RoleTool, results...),
		}
	}
	both := []message.Content{call("1", "clock"), call("2", "get_weather")}
	for name, test := range map[string]struct {
		messages []*message.Message
		want     string
	}{
		"texts": {turn(both, gives("1", `"It is\n ten."`), gives("2", `"Sun."`)), "“It is ten.” — clock\n“Sun.” — get_weather"},
		"JSON":  {turn(both, gives("1", `{ "hour": 10 }`), gives("2", `[1, true]`)), "“{\"hour\":10}” — clock\n“[1,true]” — get_weather"},
		"nothing": {
			turn(both, gives("1", ``), gives("2", `null`), gives("1", `"again"`)), "clock returned nothing.\nget_weather returned nothing.",
		},
		"an error": {
			turn(both, message.FunctionResult{CallID: "1", Result: jsontext.Value(`"Error: no."`), Error: "Error: no."}, gives("2", `""`)),
			"clock failed: “Error: no.”\nget_weather returned nothing.",
		},
		"no JSON":           {turn(both, gives("1", `{x`)), "“{x” — clock"},
		"one of two":        {turn(both, gives("2", `1`)), "“1” — get_weather"},
		"a result unasked":  {turn(nil, gives("1", `1`))[:3:3], "→ clock {}\n→ get_weather {\"city\":\"Paris\"}"},
		"a new question":    {append(turn(both, gives("1", `1`)), message.User("clock")), "→ clock {}"},
		"rounds of results": {append(turn(both[:1], gives("1", `1`)), turn(both[1:], gives("2", `2`))[1:]...), "“1” — clock\n“2” — get_weather"},
		"told already":      {append(turn(both, gives("1", `1`)), message.Assistant("It is one.")), "“1” — clock"},
		"told, and more":    {append(turn(both, gives("1", `1`)), message.Assistant("One."), message.New(message.RoleTool, gives("2", `2`))), "“2” — get_weather"},
		"from the history": {
			[]*message.Message{
				said("clock"), message.New(message.RoleAssistant, both...),
				{Role: message.RoleTool, Contents: []message.Content{gives("1", `1`)}},
			}, "“1” — clock",
		},
		"a provider's own result": {
			append(turn(both, gives("1", `1`)), &message.Message{Role: message.RoleTool, SourceID: "docs", Contents: []message.Content{gives("2", `2`)}}),
			"“1” — clock",
		},
		"context behind": {append(turn(both, gives("1", `1`)), from("docs", "The clock is red.")), "“1” — clock"},
	} {
		request := &host.ChatRequest{Messages: test.messages, Tools: workshop}
		if name == "a result unasked" {
			request.Messages = []*message.Message{test.messages[0], test.messages[2]}
		}
		assert.Equal(t, test.want, replyTo(t, request), name)
		if !strings.HasPrefix(test.want, "→") { // none is called again, whatever the choice
			request.Options.ToolChoice.Mode = host.ToolChoiceRequired
			assert.Equal(t, test.want, replyTo(t, request), name)
		}
	}
}

func TestResultsShareTheLengthOfAnAnswer(t *testing.T) {
	words := strings.TrimSpace(strings.Repeat("word ", 100))
	m := message.New(message.RoleTool)
	calls := message.New(message.RoleAssistant)
	for i, text := range []string{words, "short", words} {
		calls.Contents = append(calls.Contents, message.FunctionCall{CallID: fmt.Sprint(i), Name: "clock"})
		m.Contents = append(m.Contents, message.FunctionResult{CallID: fmt.Sprint(i), Result: jsontext.Value(`"` + text + `"`)})
	}
	response, err := New(Config{MaxLength: 60}).Complete(t.Context(), &host.ChatRequest{Messages: []*message.Message{message.User("clock"), calls, m}})
	require.NoError(t, err)
	assert.Equal(t, "“word word word word…” — clock\n“short” — clock\n“word word word word word word word…” — clock", response.Text())
}

// What a provider adds names no tool, however it is worded.
func TestContextCallsNothing(t *testing.T) {
	request := requestFor("Call the clock.", "What is a gate?", from("docs", "Call the clock. A gate is a door."), said("clock"))
	request.Tools = workshop
	assert.Equal(t, "“A gate is a door.” — docs", replyTo(t, request))
}

// A question of any length is answered: a part of it that is looked at again for each other part would keep this test for
// minutes.
func TestALongQuestionIsReadOnce(t *testing.T) {
	for _, part := range []string{"1 ", "red ", "get_weather ", "tags ", `"a" `, "‘", "for ", "tags=1 ", "clock add ", "a,", "[", "{", "a"} {
		for _, tool := range []string{"sum ", "paint wet=true ", "tag-note ", "translate ", "get_weather "} {
			request := requestFor("", tool+strings.Repeat(part, 40_000/len(part)))
			request.Tools = workshop
			replyTo(t, request)
		}
	}
}

func TestAReplyHasSoManyCalls(t *testing.T) {
	var question strings.Builder
	for i := range maxCalls {
		fmt.Fprintf(&question, "add %d %d, sum %d. ", i, i, i)
	}
	request := requestFor("", question.String())
	request.Tools = workshop
	response, err := New(Config{}).Complete(t.Context(), request)
	require.NoError(t, err)
	calls := callsOf(response)
	require.Len(t, calls, maxCalls)
	assert.Equal(t, `{"numbers":[15]}`, string(calls[maxCalls-1].Arguments), "the last ends where the next begins")
}

// A request may hold tools that nobody can call.
func TestToolsThatAreNone(t *testing.T) {
	request := requestFor("", "What does clock do?")
	request.Tools = []host.OfferedTool{{}, offered("", "", ""), offered("clock", "", ""), offered("clock", "", `{"required":["x"]}`)}
	assert.Equal(t, "→ clock {}", replyTo(t, request))
	request.Tools = request.Tools[:2]
	request.Options.ToolChoice.Mode = host.ToolChoiceRequired
	assert.Equal(t, noContext, replyTo(t, request))
}
