package host

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/message"
)

// Where a service keeps the conversation, it has the calls of a reply before anybody answered them, and takes nothing else
// until it has their results. A run may end in between: it failed, was left, or was done without another model call. What
// it owes is kept in the session, and goes ahead of what the next run sends.

// owedBucket is the part of a session where owed results stand. No provider can have it.
const owedBucket = reservedPrefix + "owed"

// unanswered is the result of a call that nobody answered before the run ended.
const unanswered = "Error: The run ended before this call was answered."

// debt is what a conversation that a service keeps waits for.
type debt struct {
	conversation string
	results      *message.Message
}

// owe remembers that the service has calls without results: those of a batch, or what was found so far.
func (r *run) owe(reply *Response, b *batch) {
	r.owed = debt{}
	if reply.ConversationID == "" || len(b.calls) == 0 {
		return
	}
	results := message.New(message.RoleTool)
	for i, c := range b.calls {
		result := b.results[i].result
		if result.Result == nil {
			result = message.FunctionResult{CallID: c.CallID, Result: textValue(unanswered), Error: unanswered}
		}
		results.Contents = append(results.Contents, result)
		results.Untrusted = results.Untrusted || b.results[i].untrusted
	}
	r.owed = debt{reply.ConversationID, results}
}

// keepOwed writes what the run still owes into the session, when it ends.
func (r *run) keepOwed(ctx context.Context) {
	if r.owed.results == nil || !r.hasSession {
		return
	}
	raw, err := message.AppendList(nil, []*message.Message{r.owed.results})
	if err == nil {
		state := r.session.State(owedBucket)
		if err = state.Set("conversation_id", r.owed.conversation); err == nil {
			err = state.Set("results", jsontext.Value(raw))
		}
	}
	if err != nil {
		r.agent.log.ErrorContext(ctx, "results that a conversation waits for cannot be kept", "session", r.session.ID(), "error", err)
	}
}

// payOwed puts what an earlier run owes ahead of a request that goes on with its conversation. Owed results of another
// conversation are dropped.
func (r *run) payOwed(request *ChatRequest) error {
	if !r.hasSession || !slices.Contains(r.session.Sources(), owedBucket) {
		return nil
	}
	state := r.session.State(owedBucket)
	var conversation string
	known, err := state.Get("conversation_id", &conversation)
	if err != nil || !known {
		return err
	}
	raw, _, err := state.GetRaw("results")
	if err != nil {
		return err
	}
	var results []*message.Message
	if conversation == request.ConversationID {
		if results, err = new(message.Decoder).DecodeList(raw); err != nil {
			return err
		}
		r.owed = debt{conversation, results[0]} // until it is delivered
		r.distrustIn(results)
	}
	request.Messages = append(results, request.Messages...)
	return state.Replace(jsontext.Value(`{}`))
}
