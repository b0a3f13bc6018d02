package offline

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/message"
)

// result is what a call of this turn came to.
type result struct {
	tool string
	message.FunctionResult
}

// resultsOf are the results that came after the last message of the user, in their order. Those of calls that nobody made
// are passed over, and those that were told already where newer ones followed.
func resultsOf(messages []*message.Message) []result {
	var out []result
	names, seen := map[string]string{}, map[string]bool{}
	told := 0
	for _, m := range messages {
		if m == nil {
			continue
		}
		if m.Role == message.RoleUser && conversation(m) && strings.TrimSpace(m.Text()) != "" {
			out, told = nil, 0
			clear(seen)
		}
		for _, content := range m.Contents {
			switch c := content.(type) {
			case message.FunctionCall:
				names[c.CallID] = c.Name
			case message.FunctionResult:
				if name := names[c.CallID]; name != "" && conversation(m) && !seen[c.CallID] {
					seen[c.CallID] = true
					out, told = append(out[told:], result{name, c}), 0
				}
			}
		}
		if m.Role == message.RoleAssistant && conversation(m) && m.Text() != "" {
			told = len(out)
		}
	}
	return out
}

// tell quotes results, a line each. What one leaves of the length of an answer is there for the next.
func (c *Client) tell(results []result) string {
	var lines []string
	left := c.maxLength
	for i, r := range results {
		text := shortenedTo(r.text(), max(1, left/(len(results)-i)))
		left -= min(left, len([]rune(text)))
		switch {
		case r.Error != "":
			lines = append(lines, r.tool+" failed: "+quoted(text))
		case text == "":
			lines = append(lines, r.tool+" returned nothing.")
		default:
			lines = append(lines, quoted(text)+" — "+r.tool)
		}
	}
	return strings.Join(lines, "\n")
}

// text is a result on one line: a text as it is, other values as JSON.
func (r *result) text() string {
	if r.Error != "" {
		return oneLine(r.Error)
	}
	var text string
	if raw := slices.Clone(r.Result); len(raw) > 0 && raw.Kind() != jsontext.KindNull && json.Unmarshal(raw, &text) != nil {
		_ = raw.Compact() // what is no JSON is quoted as it stands
		text = string(raw)
	}
	return oneLine(text)
}
