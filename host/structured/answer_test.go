package structured_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/structured"
	"github.com/weft-run/weft/message"
)

func TestAnswersThatAreTaken(t *testing.T) {
	both(t, func(t *testing.T, streamed bool) {
		for _, text := range []string{
			good, " \n" + good + "\t\n", "```json\n" + good + "\n```", "```\n" + good + "\n```\n", "```JSON  \n" + good + "```",
			`{"degrees":3,"city":"Oslo"}`,
		} {
			model := &scripted{replies: []*host.Response{says(text)}}
			out := ask(t, newAgent(t, host.AgentConfig{Client: model}), streamed, host.RunConfig{}, structured.Config{})
			require.NoError(t, out.err, text)
			assert.Equal(t, forecast{"Oslo", 3}, out.value, text)
			assert.JSONEq(t, good, out.response.Text())
			assert.NotContains(t, out.response.Text(), "`")
			assert.Equal(t, strings.TrimSpace(out.response.Text()), out.response.Text(), "the bare value")
			if streamed {
				assert.Equal(t, out.response.Text(), out.shown)
			}
			require.Len(t, model.requests, 1)
			format := model.requests[0].Options.ResponseFormat
			assert.Equal(t, "answer", format.Name, "the default name")
			assert.JSONEq(t, `{"type":"object","properties":{"city":{"type":"string"},"degrees":{"type":"integer"}},
				"required":["city","degrees"],"additionalProperties":false}`, string(format.Schema))
		}
	})
}

func TestABadAnswerIsRepairedOnce(t *testing.T) {
	both(t, func(t *testing.T, streamed bool) {
		model := &scripted{replies: []*host.Response{says(`{"city":7,"degrees":3}`), says(good)}}
		agent := newAgent(t, host.AgentConfig{Client: model})
		session := agent.CreateSession("")
		out := ask(t, agent, streamed, host.RunConfig{Session: session}, structured.Config{Name: "forecast", Description: "the weather", Strict: true})
		require.NoError(t, out.err)
		assert.Equal(t, forecast{"Oslo", 3}, out.value)
		assert.Equal(t, &host.Usage{InputTokens: 20, OutputTokens: 6, CachedInputTokens: 4, ReasoningTokens: 2}, out.response.Usage, "of both calls")
		if streamed {
			assert.Equal(t, good, out.shown, "nothing of the bad answer is shown")
			assert.Equal(t, host.Usage{InputTokens: 20, OutputTokens: 6}, out.usage, "the updates add up to the response")
		}

		require.Len(t, model.requests, 2)
		again := model.requests[1].Messages
		require.Len(t, again, 3)
		assert.Equal(t, "How warm?", again[0].Text())
		assert.Equal(t, message.RoleAssistant, again[1].Role)
		assert.Equal(t, `{"city":7,"degrees":3}`, again[1].Text())
		assert.Contains(t, again[2].Text(), "/properties/city", "it is told where")
		for _, r := range model.requests {
			assert.Equal(t, "forecast", r.Options.ResponseFormat.Name)
			assert.Equal(t, "the weather", r.Options.ResponseFormat.Description)
			assert.True(t, r.Options.ResponseFormat.Strict)
		}

		model.replies = []*host.Response{says("free text")}
		_, err := agent.Run(t.Context(), host.Text("and now?"), host.RunConfig{Session: session})
		require.NoError(t, err)
		var stored []string
		for _, m := range model.requests[2].Messages {
			stored = append(stored, m.Text())
		}
		assert.Equal(t, []string{"How warm?", good, "and now?"}, stored, "the history holds the good answer alone")
		assert.Nil(t, model.requests[2].Options.ResponseFormat, "the next run is free again")
	})
}

func TestAnswersThatAreNot(t *testing.T) {
	refusal := &host.Response{Messages: []*message.Message{message.New(message.RoleAssistant, message.Error{Message: "I will not.", Code: "refusal"})}}
	for _, c := range []struct {
		name   string
		reply  *host.Response
		reason structured.Reason
		text   string
		asked  int
		says   string
	}{
		{"prose", says("It is warm."), structured.ReasonNotJSON, "It is warm.", 2, "not valid JSON"},
		{"prose before", says("Here: " + good), structured.ReasonNotJSON, "Here: " + good, 2, "not valid JSON"},
		{"prose after", says(good + " Enjoy!"), structured.ReasonNotJSON, good + " Enjoy!", 2, "something follows"},
		{"two values", says(good + good), structured.ReasonNotJSON, good + good, 2, "something follows"},
		{"open fence", says("```json\n" + good), structured.ReasonNotJSON, "```json\n" + good, 2, "fence"},
		{"other fence", says("```yaml\n" + good + "\n```"), structured.ReasonNotJSON, "```yaml\n" + good + "\n```", 2, "fence"},
		{"prose around a fence", says("Sure:\n```json\n" + good + "\n```"), structured.ReasonNotJSON, "Sure:\n```json\n" + good + "\n```", 2, "not valid JSON"},
		{"duplicate names", says(`{"city":"a","city":"b","degrees":1}`), structured.ReasonNotJSON, `{"city":"a","city":"b","degrees":1}`, 2, "duplicate"},
		{"too deep", says(strings.Repeat("[", 1000)), structured.ReasonNotJSON, strings.Repeat("[", 1000), 2, "deeper"},
		{"missing", says(`{"city":"Oslo"}`), structured.ReasonSchema, `{"city":"Oslo"}`, 2, "degrees"},
		{"unknown member", says(`{"city":"Oslo","degrees":1,"wind":2}`), structured.ReasonSchema, `{"city":"Oslo","degrees":1,"wind":2}`, 2, "wind"},
		{"not a type's value", says(`{"city":"Oslo","degrees":99999999999999999999}`), structured.ReasonSchema, `{"city":"Oslo","degrees":99999999999999999999}`, 2, "does not go into the type"},
		{"nothing", says(" "), structured.ReasonEmpty, " ", 2, "no text"},
		{"cut off", finished(`{"city":"Os`, host.FinishLength), structured.ReasonLength, `{"city":"Os`, 2, "token limit"},
		{"filtered", finished(good, host.FinishContentFilter), structured.ReasonContentFilter, good, 1, "filter"},
		{"refused", refusal, structured.ReasonRefusal, "I will not.", 1, "refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			both(t, func(t *testing.T, streamed bool) {
				model := &scripted{replies: []*host.Response{c.reply, c.reply, c.reply}}
				agent := newAgent(t, host.AgentConfig{Client: model})
				session := agent.CreateSession("")
				out := ask(t, agent, streamed, host.RunConfig{Session: session}, structured.Config{})
				require.ErrorIs(t, out.err, structured.ErrInvalid)
				require.ErrorContains(t, out.err, c.says)
				wrong, ok := errors.AsType[*structured.Error](out.err)
				require.True(t, ok)
				assert.Equal(t, c.reason, wrong.Reason)
				assert.Equal(t, c.text, wrong.Text)
				assert.Equal(t, c.asked, wrong.Attempts)
				assert.Len(t, model.requests, c.asked)
				assert.Equal(t, "structured_output."+string(c.reason), wrong.ErrorType())
				assert.Nil(t, out.response)
				assert.Zero(t, out.value)
				assert.Empty(t, out.shown)

				model.replies = []*host.Response{says("hi")}
				_, err := agent.Run(t.Context(), host.Text("next"), host.RunConfig{Session: session})
				require.NoError(t, err)
				assert.Len(t, model.requests[c.asked].Messages, 1, "nothing of the failed run was stored")
			})
		})
	}
}

func TestTheTextInAnErrorIsCut(t *testing.T) {
	model := &scripted{replies: []*host.Response{says("x" + strings.Repeat("ä", 5000))}}
	out := ask(t, newAgent(t, host.AgentConfig{Client: model}), false, host.RunConfig{}, structured.Config{Repairs: new(0)})
	wrong, ok := errors.AsType[*structured.Error](out.err)
	require.True(t, ok)
	assert.Equal(t, "x"+strings.Repeat("ä", 2047), wrong.Text)
	assert.NotContains(t, wrong.Error(), "ää")
}

func TestRepairs(t *testing.T) {
	both(t, func(t *testing.T, streamed bool) {
		for repairs, asked := range map[int]int{0: 1, 1: 2, 3: 4} {
			bad := []*host.Response{says("a"), says("b"), says("c"), says("d"), says("e")}
			model := &scripted{replies: bad}
			out := ask(t, newAgent(t, host.AgentConfig{Client: model}), streamed, host.RunConfig{}, structured.Config{Repairs: new(repairs)})
			require.ErrorIs(t, out.err, structured.ErrInvalid)
			assert.Len(t, model.requests, asked)
			assert.Len(t, model.requests[asked-1].Messages, 1+2*(asked-1))
		}
		model := &scripted{replies: []*host.Response{says("a"), says("b"), says(good)}}
		out := ask(t, newAgent(t, host.AgentConfig{Client: model}), streamed, host.RunConfig{}, structured.Config{Repairs: new(2)})
		require.NoError(t, out.err)
		assert.Equal(t, 30, out.response.Usage.InputTokens)
		assert.Equal(t, good, out.response.Text())
	})
}

func TestAServiceThatKeepsTheConversationGetsTheComplaintAlone(t *testing.T) {
	both(t, func(t *testing.T, streamed bool) {
		first, second := says("no"), says(good)
		first.ConversationID, second.ConversationID = "c1", "c1"
		model := &scripted{replies: []*host.Response{first, second}}
		out := ask(t, newAgent(t, host.AgentConfig{Client: model}), streamed, host.RunConfig{}, structured.Config{})
		require.NoError(t, out.err)
		require.Len(t, model.requests[1].Messages, 1)
		assert.Contains(t, model.requests[1].Messages[0].Text(), "cannot be used")
		assert.Equal(t, "c1", model.requests[1].ConversationID)
	})
}
