package openaitest

// response is the reply as an answer of the API responses.
func (a answer) response() any {
	output := []any{}
	for _, item := range a.items() {
		output = append(output, item)
	}
	r := a.responseObject("completed", output)
	switch a.FinishReason {
	case "length":
		r["status"], r["incomplete_details"] = "incomplete", object{"reason": "max_output_tokens"}
	case "content_filter":
		r["status"], r["incomplete_details"] = "incomplete", object{"reason": "content_filter"}
	}
	if a.Usage != nil {
		u := a.Usage
		r["usage"] = object{
			"input_tokens": u.Input, "output_tokens": u.Output, "total_tokens": u.Input + u.Output,
			"input_tokens_details":  object{"cached_tokens": u.Cached},
			"output_tokens_details": object{"reasoning_tokens": u.Reasoning},
		}
	}
	return r
}

func (a answer) responseObject(status string, output []any) object {
	return object{
		"id": a.id("resp_"), "object": "response", "created_at": 1_700_000_000, "model": a.model, "status": status,
		"error": nil, "incomplete_details": nil, "output": output, "usage": nil,
		"store": a.stored,
	}
}

// items are the output items of the reply, whole.
func (a answer) items() []object {
	var items []object
	if a.Reasoning != "" {
		items = append(items, object{
			"id": a.id("rs_"), "type": "reasoning", "summary": []any{object{"type": "summary_text", "text": a.Reasoning}},
		})
	}
	content := []any{}
	if a.Text != "" {
		content = append(content, object{"type": "output_text", "text": a.Text, "annotations": []any{}})
	}
	if a.Refusal != "" {
		content = append(content, object{"type": "refusal", "refusal": a.Refusal})
	}
	if len(content) > 0 {
		items = append(items, object{"id": a.id("msg_"), "type": "message", "role": "assistant", "status": "completed", "content": content})
	}
	for _, c := range a.Calls {
		items = append(items, object{
			"id": "fc_" + c.ID, "type": "function_call", "status": "completed", "call_id": c.ID, "name": c.Name, "arguments": c.Arguments,
		})
	}
	return items
}

// responseEvents is the same as a stream.
func (a answer) responseEvents() []event {
	var events []event
	add := func(kind string, fields object) {
		fields["type"], fields["sequence_number"] = kind, len(events)
		events = append(events, event{name: kind, data: fields})
	}
	begun := a.responseObject("in_progress", []any{})
	add("response.created", object{"response": begun})
	add("response.in_progress", object{"response": begun})
	for i, item := range a.items() {
		at := func(more object) object {
			more["item_id"], more["output_index"] = item["id"], i
			return more
		}
		switch item["type"] {
		case "reasoning":
			add("response.output_item.added", object{"output_index": i, "item": object{"id": item["id"], "type": "reasoning", "summary": []any{}}})
			for _, w := range words(a.Reasoning) {
				add("response.reasoning_summary_text.delta", at(object{"summary_index": 0, "delta": w}))
			}
			add("response.reasoning_summary_text.done", at(object{"summary_index": 0, "text": a.Reasoning}))
		case "message":
			add("response.output_item.added", object{"output_index": i, "item": object{
				"id": item["id"], "type": "message", "role": "assistant", "status": "in_progress", "content": []any{},
			}})
			for _, w := range words(a.Text) {
				add("response.output_text.delta", at(object{"content_index": 0, "delta": w}))
			}
			for _, w := range words(a.Refusal) {
				add("response.refusal.delta", at(object{"content_index": 0, "delta": w}))
			}
		case "function_call":
			add("response.output_item.added", object{"output_index": i, "item": object{
				"id": item["id"], "type": "function_call", "status": "in_progress", "call_id": item["call_id"], "name": item["name"], "arguments": "",
			}})
			arguments, _ := item["arguments"].(string)
			for _, half := range halves(arguments) {
				add("response.function_call_arguments.delta", at(object{"delta": half}))
			}
			add("response.function_call_arguments.done", at(object{"arguments": arguments}))
		}
		add("response.output_item.done", object{"output_index": i, "item": item})
	}
	whole, kind := a.response(), "response.completed"
	if o, ok := whole.(object); ok && o["status"] == "incomplete" {
		kind = "response.incomplete"
	}
	add(kind, object{"response": whole})
	return events
}
