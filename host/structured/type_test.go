package structured_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/schema"
	"github.com/weft-run/weft/host/structured"
)

// even is a type that refuses what its schema lets through.
type even int

func (e *even) UnmarshalJSON(raw []byte) error {
	if _, err := fmt.Sscan(string(raw), (*int)(e)); err != nil {
		return err
	}
	if *e%2 != 0 {
		return fmt.Errorf("%d is odd, and an even number was wanted", *e)
	}
	return nil
}

func valueOf[T any](t *testing.T, replies ...string) (T, *scripted, *host.Response, error) {
	model := &scripted{}
	for _, r := range replies {
		model.replies = append(model.replies, says(r))
	}
	v, r, err := structured.Run[T](t.Context(), newAgent(t, host.AgentConfig{Client: model}), host.Text("hi"), host.RunConfig{}, structured.Config{})
	return v, model, r, err
}

func TestValuesThatAreNoObjectsAreWrapped(t *testing.T) {
	list, model, response, err := valueOf[[]forecast](t, `{"value":[`+good+`]}`)
	require.NoError(t, err)
	assert.Equal(t, []forecast{{"Oslo", 3}}, list)
	assert.Equal(t, `{"value":[`+good+`]}`, response.Text())
	assert.JSONEq(t, `{"type":"object","required":["value"],"additionalProperties":false,"properties":{"value":{"type":["null","array"],"items":{
		"type":"object","properties":{"city":{"type":"string"},"degrees":{"type":"integer"}},"required":["city","degrees"],"additionalProperties":false}}}}`,
		string(model.requests[0].Options.ResponseFormat.Schema))
	again, err := structured.Decode[[]forecast](response)
	require.NoError(t, err)
	assert.Equal(t, list, again)

	text, _, _, err := valueOf[string](t, `{"value":"hello"}`)
	require.NoError(t, err)
	assert.Equal(t, "hello", text)
	number, _, _, err := valueOf[int64](t, `{"value":9007199254740993}`)
	require.NoError(t, err)
	assert.Equal(t, int64(9007199254740993), number, "no digit is lost")
	nothing, _, _, err := valueOf[*forecast](t, `{"value":null}`)
	require.NoError(t, err)
	assert.Nil(t, nothing)
	anything, _, _, err := valueOf[any](t, `{"value":[1,"a"]}`)
	require.NoError(t, err)
	assert.Equal(t, []any{1.0, "a"}, anything)
	at, _, _, err := valueOf[time.Time](t, `{"value":"soon"}`, `{"value":"2026-01-02T03:04:05Z"}`)
	require.NoError(t, err)
	assert.Equal(t, 2026, at.Year())
	counts, model, _, err := valueOf[map[string]int](t, `{"a":1}`)
	require.NoError(t, err)
	assert.Equal(t, map[string]int{"a": 1}, counts)
	assert.NotContains(t, string(model.requests[0].Options.ResponseFormat.Schema), "value", "an object travels as it is")

	for _, bare := range []string{`"hello"`, `{"value":"a","more":1}`, `{}`, `[]`} {
		_, _, _, err = valueOf[string](t, bare, bare)
		require.ErrorContains(t, err, `the one member "value" was wanted`, bare)
	}
}

func TestTheTypeMayRefuseToo(t *testing.T) {
	v, model, _, err := valueOf[even](t, `{"value":3}`, `{"value":4}`)
	require.NoError(t, err)
	assert.Equal(t, even(4), v)
	assert.Contains(t, model.requests[1].Messages[2].Text(), "3 is odd")
}

func TestSchemas(t *testing.T) {
	s, err := schema.Parse([]byte(`{"$defs":{"city":{"type":"string","minLength":2}},"type":"array","items":{"$ref":"#/$defs/city"},"minItems":1}`))
	require.NoError(t, err)
	model := &scripted{replies: []*host.Response{says(`{"value":["x"]}`), says(`{"value":["Oslo"]}`)}}
	agent := newAgent(t, host.AgentConfig{Client: model})
	value, response, err := structured.RunSchema(t.Context(), agent, host.Text("hi"), host.RunConfig{}, s, structured.Config{})
	require.NoError(t, err)
	assert.Equal(t, `["Oslo"]`, string(value))
	value, err = structured.DecodeSchema(response, s)
	require.NoError(t, err)
	assert.Equal(t, `["Oslo"]`, string(value))

	sent := model.requests[0].Options.ResponseFormat.Schema
	wrapper, err := schema.Parse(sent)
	require.NoError(t, err, "what is sent is a schema")
	require.NoError(t, wrapper.Validate([]byte(`{"value":["Oslo"]}`)))
	require.Error(t, wrapper.Validate([]byte(`{"value":["x"]}`)), "its references still lead somewhere")

	m, err := structured.MiddlewareSchema(s, structured.Config{Repairs: new(0)})
	require.NoError(t, err)
	model.replies = []*host.Response{says(`{"value":[]}`)}
	_, err = agent.Stream(t.Context(), host.Text("hi"), host.RunConfig{Middleware: host.Middleware{Chat: []host.ChatMiddleware{m}}}).Response()
	require.ErrorIs(t, err, structured.ErrInvalid)
}

func TestConfigErrors(t *testing.T) {
	_, err := structured.MiddlewareSchema(nil, structured.Config{Name: "an answer", Repairs: new(-1)})
	require.EqualError(t, err, "structured output: name: \"an answer\": services take 1 to 64 letters, digits, _ and -\n"+
		"repairs: -1 is less than 0; 0 stands for none\nschema: it is nil, and an answer needs one: see package schema")

	agent := newAgent(t, host.AgentConfig{Client: &scripted{}})
	_, response, err := structured.Run[func()](t.Context(), agent, nil, host.RunConfig{}, structured.Config{})
	require.ErrorContains(t, err, "no schema for the type")
	require.Nil(t, response)
	_, err = structured.Middleware[chan int](structured.Config{})
	require.ErrorContains(t, err, "no schema for the type")
	_, err = structured.Decode[forecast](nil)
	require.ErrorIs(t, err, structured.ErrNoAnswer)
	_, err = structured.Decode[forecast](host.NewResponse("hello"))
	require.ErrorIs(t, err, structured.ErrInvalid)
}

func TestManyRunsShareAMiddleware(t *testing.T) {
	m, err := structured.Middleware[forecast](structured.Config{})
	require.NoError(t, err)
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			agent := newAgent(t, host.AgentConfig{
				Client: &scripted{replies: []*host.Response{says("bad"), says(good)}}, Middleware: host.Middleware{Chat: []host.ChatMiddleware{m}},
			})
			var r *host.Response
			var err error
			if i%2 == 0 {
				r, err = agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
			} else {
				r, err = agent.Stream(t.Context(), host.Text("hi"), host.RunConfig{}).Response()
			}
			if assert.NoError(t, err) {
				assert.Equal(t, good, r.Text())
			}
		})
	}
	wg.Wait()
}
