package host

import (
	"context"
	"fmt"
	"slices"

	"github.com/weft-run/weft/message"
)

// limitReached stands in where a run must end and the model left nothing to say.
const limitReached = "The function call limit reached: the calls of the last reply were not answered."

// loop calls the model, answers the calls in its reply, and calls it again, until a reply has no calls or a limit ends it
// (semantics: Function-invocation loop).
func (r *run) loop(ctx context.Context) error {
	if _, err := r.loadHistories(ctx); err != nil {
		return err
	}
	request, err := r.request(ctx)
	if err != nil {
		return err
	}
	limits := r.agent.invocation
	tools := r.callable(request.Tools)
	if limits.Disabled || len(request.Tools) == 0 {
		reply, err := r.callModel(ctx, request, false)
		if err != nil {
			return err
		}
		if err := r.storeStep(ctx, r.input, reply); err != nil {
			return err
		}
		r.response, r.ownResponse = reply, false
		return nil
	}

	total := &Response{}
	waits, err := r.openApprovals()
	if err != nil {
		return err
	}
	again, err := r.answerWaiting(ctx, request, waits, tools, total)
	if err != nil {
		return err
	}
	if again {
		err = r.iterate(ctx, request, waits, tools, total)
	} else {
		err = r.storeStep(ctx, r.input, total)
	}
	if err != nil {
		return err
	}
	if err := waits.keep(); err != nil {
		return err
	}
	r.response, r.ownResponse = total, false
	return nil
}

// answerWaiting runs what the input approved, and makes the request fit to be sent. It reports whether the model is to
// be called: not where the input only answered some of the requests of a batch.
func (r *run) answerWaiting(ctx context.Context, request *ChatRequest, waits *approvals, tools map[string]OfferedTool, total *Response) (bool, error) {
	ready := waits.takeReady()
	request.Messages = waits.shownToModel(request.Messages)
	if len(ready) == 0 && waits.changed {
		for i := range waits.batches {
			if w := &waits.batches[i]; len(w.Answers) > 0 {
				return false, r.ask(w, total)
			}
		}
	}
	for _, w := range ready {
		b, err := r.resume(ctx, w, tools)
		if err != nil {
			return false, err
		}
		results, _, terminated := b.message()
		if request.ConversationID == "" && !holdsCalls(request.Messages, b) {
			calls := message.New(message.RoleAssistant)
			for _, c := range b.calls {
				calls.Contents = append(calls.Contents, c)
			}
			request.Messages = append(slices.Clip(request.Messages), calls)
		}
		request.Messages = append(slices.Clip(request.Messages), results)
		total.Messages = append(total.Messages, results)
		if err := r.showResults(results); err != nil {
			return false, err
		}
		if terminated {
			return false, nil
		}
	}
	return true, nil
}

// iterate is the loop itself.
func (r *run) iterate(ctx context.Context, request *ChatRequest, waits *approvals, tools map[string]OfferedTool, total *Response) error {
	limits := r.agent.invocation
	failing, answered := 0, 0
	sent := append(slices.Clip(r.input), total.Messages...) // what the next model call is newly sent
	for iteration := 0; ; iteration++ {
		last := iteration >= limits.MaxIterations || failing >= limits.MaxConsecutiveErrors ||
			limits.MaxFunctionCalls > 0 && answered >= limits.MaxFunctionCalls
		if last {
			request.Options.ToolChoice = ToolChoice{Mode: ToolChoiceNone}
		}
		choice := request.Options.ToolChoice
		reply, err := r.callModel(ctx, request, choice.Mode == ToolChoiceNone)
		if err != nil {
			return err
		}
		total.add(reply)
		b := newBatch(reply)
		if choice.Mode == ToolChoiceNone && len(reply.Messages) == 0 { // all that it said was calls
			if reply, err = r.sayLimit(total); err != nil {
				return err
			}
		}
		if err := r.storeStep(ctx, sent, reply); err != nil {
			return err
		}
		if len(b.calls) == 0 || paused(b, tools) {
			return nil
		}
		if err := unknownCall(b, tools); err != nil && limits.TerminateOnUnknownCalls {
			return err
		}
		if w := r.pauseForApproval(b, tools); w != nil {
			waits.add(r, w)
			return r.ask(w, total)
		}
		if err := r.invoke(ctx, b, tools); err != nil {
			return err
		}
		results, failed, terminated := b.message()
		total.Messages = append(total.Messages, results)
		if err := r.showResults(results); err != nil {
			return err
		}
		sent = []*message.Message{results}
		if terminated || choice.Mode == ToolChoiceRequired {
			return r.storeStep(ctx, sent, nil)
		}
		answered += len(b.calls)
		if failing++; !failed {
			failing = 0
		}
		if request, err = r.nextRequest(ctx, request, reply, results); err != nil {
			return err
		}
	}
}

func (r *run) showResults(results *message.Message) error {
	if r.out == nil {
		return nil
	}
	return r.out.show(&Update{Role: message.RoleTool, Contents: results.Contents})
}

// nextRequest is the request after a reply whose calls were answered. Where the service keeps the conversation, it has
// the reply already, and gets the results alone; histories that load with each call have it too.
func (r *run) nextRequest(ctx context.Context, before *ChatRequest, reply *Response, results *message.Message) (*ChatRequest, error) {
	next := *before
	next.ConversationID = r.conversationID()
	if reply.ConversationID != "" {
		next.Messages = []*message.Message{results}
		return &next, nil
	}
	loaded, err := r.loadHistories(ctx)
	switch {
	case err != nil:
		return nil, err
	case loaded:
		next.Messages = append(r.context.all(), results)
	default:
		next.Messages = append(append(slices.Clip(before.Messages), reply.Messages...), results)
	}
	return &next, nil
}

// callable are the tools that the model may call, by name.
func (r *run) callable(offered []OfferedTool) map[string]OfferedTool {
	tools := make(map[string]OfferedTool, len(offered)+len(r.agent.invocation.AdditionalTools))
	for _, t := range r.agent.invocation.AdditionalTools {
		tools[t.Definition().Name] = OfferedTool{Tool: t}
	}
	for _, t := range offered {
		tools[t.Definition().Name] = t
	}
	return tools
}

// paused reports whether a batch holds a call that only the caller can answer: then none of it is answered here.
func paused(b *batch, tools map[string]OfferedTool) bool {
	return slices.ContainsFunc(b.calls, func(c message.FunctionCall) bool {
		t, known := tools[c.Name]
		if !known {
			return false
		}
		_, runs := t.Tool.(FunctionTool)
		return !runs
	})
}

func unknownCall(b *batch, tools map[string]OfferedTool) error {
	for _, c := range b.calls {
		if _, ok := tools[c.Name]; !ok {
			return fmt.Errorf("the model called the tool %q, which does not exist", c.Name)
		}
	}
	return nil
}

// message is the tool message with all results in the order of the calls.
func (b *batch) message() (m *message.Message, failed, terminated bool) {
	m = message.New(message.RoleTool)
	for _, o := range b.results {
		m.Contents = append(m.Contents, o.result)
		failed = failed || o.failed
		terminated = terminated || o.terminated
	}
	return m, failed, terminated
}

// add puts a reply behind the replies so far.
func (r *Response) add(reply *Response) {
	r.Messages = append(r.Messages, reply.Messages...)
	r.ID, r.Model, r.FinishReason = reply.ID, reply.Model, reply.FinishReason
	if reply.ConversationID != "" {
		r.ConversationID = reply.ConversationID
	}
	if reply.Usage != nil {
		if r.Usage == nil {
			r.Usage = &Usage{}
		}
		r.Usage.add(*reply.Usage)
	}
}

// sayLimit ends a response that would be empty with a fixed text, and returns that.
func (r *run) sayLimit(total *Response) (*Response, error) {
	text := NewResponse(limitReached)
	total.Messages = append(total.Messages, text.Messages...)
	return text, r.out.showAll(text)
}
