package openaitest

// embeddings is the answer with the vectors of the script, the last first: a client has to go by their index.
func (a answer) embeddings() map[string]any {
	data := []any{}
	for i := len(a.Vectors) - 1; i >= 0; i-- {
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": a.Vectors[i]})
	}
	whole := map[string]any{"object": "list", "model": a.model, "data": data}
	if a.Usage != nil {
		whole["usage"] = map[string]any{"prompt_tokens": a.Usage.Input, "total_tokens": a.Usage.Input}
	}
	return whole
}
