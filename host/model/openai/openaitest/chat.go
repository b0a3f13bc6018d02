package openaitest

type object = map[string]any

// chat is the reply as an answer of chat completions.
func (a answer) chat() any {
	said := object{"role": "assistant", "content": orNull(a.Text), "refusal": orNull(a.Refusal)}
	if a.Reasoning != "" {
		said["reasoning_content"] = a.Reasoning
	}
	if len(a.Calls) > 0 {
		var calls []any
		for _, c := range a.Calls {
			calls = append(calls, object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": c.Arguments}})
		}
		said["tool_calls"] = calls
	}
	whole := a.chatObject("chat.completion", object{"index": 0, "message": said, "finish_reason": a.finishReason(), "logprobs": nil})
	if a.Usage != nil {
		whole["usage"] = a.chatUsage()
	}
	return whole
}

// chatEvents is the same as a stream.
func (a answer) chatEvents() []event {
	var events []event
	add := func(delta object) {
		events = append(events, event{data: a.chatObject("chat.completion.chunk", object{"index": 0, "delta": delta, "finish_reason": nil})})
	}
	add(object{"role": "assistant", "content": ""})
	for _, w := range words(a.Reasoning) {
		add(object{"reasoning_content": w})
	}
	for _, w := range words(a.Text) {
		add(object{"content": w})
	}
	for _, w := range words(a.Refusal) {
		add(object{"refusal": w})
	}
	for i, c := range a.Calls {
		add(object{"tool_calls": []any{object{"index": i, "id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": ""}}}})
	}
	for half := range 2 {
		for i, c := range a.Calls {
			add(object{"tool_calls": []any{object{"index": i, "function": object{"arguments": halves(c.Arguments)[half]}}}})
		}
	}
	events = append(events, event{data: a.chatObject("chat.completion.chunk", object{"index": 0, "delta": object{}, "finish_reason": a.finishReason()})})
	if a.Usage != nil {
		last := a.chatObject("chat.completion.chunk")
		last["usage"] = a.chatUsage()
		events = append(events, event{data: last})
	}
	return append(events, event{data: done{}})
}

func (a answer) chatObject(kind string, choices ...any) object {
	if choices == nil {
		choices = []any{}
	}
	return object{"id": a.id("chatcmpl-"), "object": kind, "created": 1_700_000_000, "model": a.model, "choices": choices}
}

func (a answer) chatUsage() object {
	u := a.Usage
	return object{
		"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details":     object{"cached_tokens": u.Cached},
		"completion_tokens_details": object{"reasoning_tokens": u.Reasoning},
	}
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}
