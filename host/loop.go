package host

import (
	"context"
	"slices"

	"github.com/weft-run/weft/message"
)

// limitReached stands in where a run must end and the model left nothing to say.
const limitReached = "The function call limit reached: the calls of the last reply were not answered."

// loop calls the model, answers the calls in its reply, and calls it again, until a reply has no calls or a limit ends
// it.
func (r *run) loop(ctx context.Context) error {
	loaded, err := r.loadHistories(ctx)
	if err != nil {
		return err
	}
	request, err := r.request(ctx)
	if err != nil {
		return err
	}
	fresh := r.input // what no history holds yet
	if loaded && r.storedStep {
		request.Messages, fresh = r.context.all(), nil // an earlier try of this run stored it
	}
	waits, err := r.openApprovals()
	if err != nil {
		return err
	}
	if err := r.distrustAtStart(ctx, request.ConversationID); err != nil {
		return err
	}
	defer r.tellCaller(ctx)
	defer r.keepOwed(context.WithoutCancel(ctx))
	if err := r.payOwed(request); err != nil {
		return err
	}
	tools, total := r.callable(request.Tools), &Response{}
	defer func() {
		if r.session != nil {
			r.session.release(waits.claimed)
		}
	}()
	again, err := r.answerWaiting(ctx, request, waits, tools, total)
	if err != nil {
		return err
	}
	if again {
		if loaded {
			request.Messages = withoutOpenCalls(request.Messages)
		}
		err = r.iterate(ctx, request, fresh, waits, tools, total)
	} else {
		err = r.storeStep(ctx, fresh, total)
	}
	if err != nil {
		return err
	}
	if err := r.out.leftErr(); err != nil {
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
	if err := r.recheck(ctx, waits, tools); err != nil {
		return false, err
	}
	ready := waits.takeReady()
	if len(waits.batches) > 0 || r.context.asks() || slices.ContainsFunc(r.input, asks) {
		request.Messages = waits.shownToModel(request.Messages)
	}
	if len(ready) == 0 && waits.changed {
		for i := range waits.batches {
			if w := &waits.batches[i]; len(w.Answers) > 0 {
				return false, r.askFor(w, total)
			}
		}
	}
	if err := waits.blocks(request.ConversationID); err != nil {
		return false, err
	}
	for _, w := range ready {
		if slices.ContainsFunc(r.resumed, func(done resumed) bool { return done.id == w.ID }) {
			continue // in an earlier try of this run
		}
		if err := r.claim(waits, w); err != nil {
			return false, err
		}
		b, err := r.resume(ctx, w, tools)
		if err != nil {
			return false, err
		}
		done := resumed{id: w.ID, batch: b}
		if results, _, _ := b.message(); results.Untrusted {
			done.untrusted = r.untrusted
		}
		r.resumed = append(r.resumed, done)
	}
	ends := false
	for _, done := range r.resumed {
		b := done.batch
		for _, source := range done.untrusted {
			r.distrust(source)
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
		ends = ends || terminated
	}
	if len(r.resumed) > 0 && request.Options.ToolChoice.Mode == ToolChoiceRequired {
		ends = true // the tools ran, which is all that was asked for
	}
	return !ends, nil
}

// iterate is the loop itself.
func (r *run) iterate(ctx context.Context, request *ChatRequest, fresh []*message.Message, waits *approvals, tools map[string]OfferedTool, total *Response) error {
	limits := r.agent.invocation
	failing, answered := 0, 0
	sent := append(slices.Clip(fresh), total.Messages...) // what the next model call is newly sent
	for iteration := 0; ; iteration++ {
		last := iteration >= limits.MaxIterations || failing >= limits.MaxConsecutiveErrors ||
			limits.MaxFunctionCalls > 0 && answered >= limits.MaxFunctionCalls
		if last {
			request.Options.ToolChoice = ToolChoice{Mode: ToolChoiceNone}
		}
		it := r.nextIteration(request, total)
		step := step{request: request, sent: sent, tools: tools, last: request.Options.ToolChoice.Mode == ToolChoiceNone}
		goOn, err := r.step(ctx, &step, it, waits, total)
		if err != nil {
			return err
		}
		if r.listens {
			it.Results = step.batch.contents()
			if err := r.afterIteration(ctx, it); err != nil {
				return err
			}
		}
		if !goOn {
			return nil
		}
		sent = []*message.Message{step.results}
		answered += len(step.batch.calls)
		if failing++; !step.failed {
			failing = 0
		}
		if request, err = r.nextRequest(ctx, request, waits, step.reply, step.results); err != nil {
			return err
		}
	}
}

// nextIteration is what hooks see of the model call that is due.
func (r *run) nextIteration(request *ChatRequest, total *Response) *Iteration {
	r.iterations++
	if !r.listens {
		return nil
	}
	shown, soFar := *request, *total
	soFar.Usage = clonePointer(soFar.Usage)
	shown.Messages, soFar.Messages = slices.Clip(shown.Messages), slices.Clip(soFar.Messages) // the loop goes on behind their ends
	return &Iteration{Number: r.iterations, Request: &shown, SoFar: &soFar}
}

// step is one model call and what became of it.
type step struct {
	request *ChatRequest
	sent    []*message.Message // what is new in the request
	tools   map[string]OfferedTool
	last    bool // calls in the reply are dropped

	reply   *Response
	batch   *batch
	results *message.Message
	failed  bool
}

// step makes one model call and answers the calls in its reply. It reports whether the loop goes on.
func (r *run) step(ctx context.Context, s *step, it *Iteration, waits *approvals, total *Response) (bool, error) {
	limits := r.agent.invocation
	if err := r.reply(ctx, s, it); err != nil {
		return false, err
	}
	total.add(s.reply)
	s.batch = newBatch(s.reply)
	r.owe(s.reply, s.batch)
	if s.last && len(s.reply.Messages) == 0 { // all that it said was calls
		var err error
		if s.reply, err = r.sayLimit(total); err != nil {
			return false, err
		}
	}
	if err := r.storeStep(ctx, s.sent, s.reply); err != nil {
		return false, err
	}
	if limits.Disabled || len(s.tools) == 0 || len(s.batch.calls) == 0 {
		r.owed = debt{} // if there are calls, the caller answers them
		return false, nil
	}
	instead, err := r.instead(ctx, s, it)
	switch {
	case err != nil:
		return false, err
	case instead != nil:
		return false, r.skipCalls(ctx, s, instead, total)
	case paused(s.batch, s.tools):
		r.owed = debt{} // the caller answers
		return false, nil
	}
	if err := unknownCall(s.batch, s.tools); err != nil && limits.TerminateOnUnknownCalls {
		return false, err
	}
	w, err := r.decideCalls(ctx, s.batch, s.tools, waits.rules)
	if err != nil {
		return false, err
	}
	if w != nil {
		w.Conversation = s.reply.ConversationID
		waits.add(r, w)
		r.owed = debt{} // the batch waits
		return false, r.askFor(w, total)
	}
	err = r.invoke(ctx, s.batch, s.tools)
	r.owe(s.reply, s.batch)
	if err != nil {
		return false, err
	}
	var terminated bool
	s.results, s.failed, terminated = s.batch.message()
	total.Messages = append(total.Messages, s.results)
	if err := r.showResults(s.results); err != nil {
		return false, err
	}
	if terminated || s.request.Options.ToolChoice.Mode == ToolChoiceRequired {
		return false, r.storeStep(ctx, []*message.Message{s.results}, nil)
	}
	return true, nil
}

// reply gets the reply of one model call, or what a before_iteration hook gives in its place.
func (r *run) reply(ctx context.Context, s *step, it *Iteration) error {
	if r.listens {
		if err := r.beforeIteration(ctx, it); err != nil {
			return err
		}
		if instead := it.instead; instead != nil {
			if s.reply = instead; s.last {
				s.reply = withoutCalls(instead)
			}
			s.reply = r.labelInstead(s.reply)
			it.instead, it.Reply = nil, s.reply
			return r.out.showAll(s.reply)
		}
	}
	var err error
	if s.reply, err = r.callModel(ctx, s.request, s.last); err != nil {
		return err
	}
	if s.reply, err = r.labelReply(s.reply); err != nil {
		return err
	}
	if r.listens {
		it.Reply = s.reply
	}
	return nil
}

// instead asks before_tools hooks what stands in place of a reply's calls; nil lets them run.
func (r *run) instead(ctx context.Context, s *step, it *Iteration) (*Response, error) {
	if !r.listens {
		return nil, nil
	}
	it.Calls = s.batch.calls
	if err := r.beforeTools(ctx, it); err != nil {
		return nil, err
	}
	return it.instead, nil
}

// skipCalls answers all calls of a reply with a fixed result, and ends the run with another reply.
func (r *run) skipCalls(ctx context.Context, s *step, instead, total *Response) error {
	for i, c := range s.batch.calls {
		s.batch.results[i].result = message.FunctionResult{CallID: c.CallID, Result: textValue(skippedCall), Error: skippedCall}
	}
	s.results, _, _ = s.batch.message()
	r.owe(s.reply, s.batch)
	total.Messages = append(total.Messages, s.results)
	if err := r.showResults(s.results); err != nil {
		return err
	}
	reply := r.labelInstead(withoutCalls(instead))
	total.Messages = append(total.Messages, reply.Messages...)
	if err := r.out.showAll(reply); err != nil {
		return err
	}
	return r.storeStep(ctx, []*message.Message{s.results}, reply)
}

func (r *run) showResults(results *message.Message) error {
	if r.out == nil {
		return nil
	}
	return r.out.show(&Update{Role: message.RoleTool, Contents: results.Contents, begins: true})
}

// nextRequest is the request after a reply whose calls were answered. Where the service keeps the conversation, it has
// the reply already, and gets the results alone; histories that load with each call have it too.
func (r *run) nextRequest(ctx context.Context, before *ChatRequest, waits *approvals, reply *Response, results *message.Message) (*ChatRequest, error) {
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
		r.distrustContext()
		next.Messages = withoutOpenCalls(append(waits.shownToModel(r.context.all()), results))
	default:
		next.Messages = append(append(before.Messages, reply.Messages...), results) // nobody was shown what is behind its end
	}
	return &next, nil
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
