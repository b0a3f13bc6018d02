package host

import (
	"context"
	"slices"

	"github.com/weft-run/weft/message"
)

// Per-service-call persistence (AgentConfig.PerServiceCallHistory): histories load before each model call and store after
// it, in place of once per run. A run that fails has then lost the step under way, and nothing before it.

// perCall reports whether a provider's hooks are replaced by loading and storing with each model call.
func (r *run) perCall(s *slot) bool { return s.history != nil && r.agent.perCallHistory }

// loadHistories puts what histories hold now into the context, at their providers' places. It reports whether any loads.
func (r *run) loadHistories(ctx context.Context) (bool, error) {
	if !r.agent.perCallHistory {
		return false, nil
	}
	loads := false
	for i := range r.slots {
		s := r.slots[i]
		if !r.perCall(s) || !s.history.loads(r) {
			continue
		}
		loads = loads || !s.history.config.SkipInputs && !s.history.config.SkipOutputs // else the loop itself knows more
		r.context.messages = slices.DeleteFunc(r.context.messages, func(c contribution) bool { return c.sourceID == s.sourceID })
		if _, err := r.hook(ctx, i, "before_run", func(ctx context.Context, sc *SessionContext) error { return s.history.BeforeRun(ctx, sc) }); err != nil {
			return false, err
		}
	}
	slices.SortStableFunc(r.context.messages, func(a, b contribution) int { return a.pos - b.pos })
	return loads, nil
}

// withoutOpenCalls leaves out calls without results: a run that failed between the two stored them, and services refuse
// them. What is stored stays.
func withoutOpenCalls(messages []*message.Message) []*message.Message {
	answered := map[string]bool{}
	for _, m := range messages {
		for _, c := range m.Contents {
			if result, ok := c.(message.FunctionResult); ok {
				answered[result.CallID] = true
			}
		}
	}
	return withoutContents(messages, func(c message.Content) bool {
		call, ok := c.(message.FunctionCall)
		return ok && !answered[call.CallID]
	})
}

// storeStep stores what one model call was newly sent, and its reply, which is nil for results that no call followed. The
// context goes with the first step.
func (r *run) storeStep(ctx context.Context, sent []*message.Message, reply *Response) error {
	if !r.agent.perCallHistory {
		return nil
	}
	first := !r.storedStep
	r.storedStep = true
	for i := range r.slots {
		s := r.slots[i]
		if !r.perCall(s) {
			continue
		}
		_, err := r.hook(ctx, i, "after_run", func(ctx context.Context, sc *SessionContext) error {
			return s.history.storeBatch(ctx, sc, first, sent, reply)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
