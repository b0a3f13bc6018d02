package offline

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// callTools makes the calls that a question wants. Where one lacks something there is none, but a text that asks for it;
// where it wants none there is neither.
func callTools(request *host.ChatRequest, question string) ([]message.FunctionCall, string) {
	list, refusal := wishes(request, question)
	if refusal != "" {
		return nil, refusal
	}
	var calls []message.FunctionCall
	var unmet []*filling
	for _, w := range list {
		f := fill(w, question)
		if !f.complete() {
			unmet = append(unmet, f)
			continue
		}
		same := func(c message.FunctionCall) bool {
			return c.Name == w.tool.name && string(c.Arguments) == string(f.arguments)
		}
		if !slices.ContainsFunc(calls, same) {
			calls = append(calls, message.FunctionCall{Name: w.tool.name, Arguments: f.arguments})
		}
	}
	var lines []string
	for _, f := range unmet {
		called := slices.ContainsFunc(calls, func(c message.FunctionCall) bool { return c.Name == f.tool.name })
		if line := f.asks(); !called && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	if len(lines) > 0 {
		return nil, strings.Join(lines, "\n")
	}
	number(calls, request.Messages)
	return calls, ""
}

// number gives calls their ids: the count of calls, and a sum over what is asked for and when. The count alone would come
// back where the host hides calls from the model, as it does with those that wait for approval.
func number(calls []message.FunctionCall, messages []*message.Message) {
	seen, turns := map[string]bool{}, 0
	for _, m := range messages {
		if m == nil {
			continue
		}
		if m.Role == message.RoleUser && conversation(m) {
			turns++
		}
		for _, content := range m.Contents {
			if c, ok := content.(message.FunctionCall); ok {
				seen[c.CallID] = true
			}
		}
	}
	n := len(seen)
	for i := range calls {
		sum := fnv.New32a()
		fmt.Fprintf(sum, "%d %s %s", turns, calls[i].Name, calls[i].Arguments)
		for calls[i].CallID == "" || seen[calls[i].CallID] {
			n++
			calls[i].CallID = fmt.Sprintf("call_%d_%08x", n, sum.Sum32())
		}
		seen[calls[i].CallID] = true
	}
}
