package openai

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// The names that the longest answer has in chat completions.
const (
	fieldMaxTokens           = "max_tokens"
	fieldMaxCompletionTokens = "max_completion_tokens"
)

// maxName is how long the name of an author may be.
const maxName = 64

// unsendable says which content cannot be sent, and why.
func unsendable(m *message.Message, content message.Content, why string) error {
	what := fmt.Sprintf("content of kind %q", content.Kind())
	if u, ok := content.(message.URI); ok {
		what = fmt.Sprintf("content %s of type %q", shown(u.URI), u.MediaType)
	}
	return fmt.Errorf("%s in a %s message cannot be sent: %s", what, m.Role, why)
}

// inMessage puts the number of a message before its errors.
func inMessage(i int, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("message %d: %w", i, err)
}

// plainText is a content as text, where it is text: texts, and errors that a model or service wrote.
func plainText(content message.Content) (string, bool) {
	switch c := content.(type) {
	case message.Text:
		return c.Text, true
	case message.Error:
		return c.Message, true
	}
	return "", false
}

// resultText is what a tool came to as the text that the protocols want: that of a JSON string, or the JSON.
func resultText(r message.FunctionResult) string {
	if text := textOf(r.Result); text != "" {
		return text
	}
	return r.Error
}

// argumentsText is a call's arguments as the model wrote them. Those that were no JSON are kept as a string.
func argumentsText(c message.FunctionCall) string {
	if text := textOf(c.Arguments); text != "" {
		return text
	}
	return "{}"
}

// authorName is the name of a message's author, if a service takes it: letters, digits, - and _.
func authorName(m *message.Message) string {
	if len(m.AuthorName) > maxName || !validName(m.AuthorName) {
		return ""
	}
	return m.AuthorName
}

func validName(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

// parameters are the members of a tool's schema. Below the first level they stay as they are written, order included.
func parameters(definition host.ToolDefinition) (map[string]any, error) {
	if definition.Parameters == nil {
		return map[string]any{"type": "object", "properties": map[string]any{}}, nil
	}
	members, err := members(definition.Parameters.JSON())
	if err != nil {
		return nil, fmt.Errorf("tool %s: parameters: %w", definition.Name, err)
	}
	return members, nil
}

// members are the members of a JSON object, each as it is written.
func members(object []byte) (map[string]any, error) {
	if jsontext.Value(object).Kind() != '{' {
		return nil, errors.New("a schema is a JSON object, and this is none")
	}
	var raw map[string]jsontext.Value
	if err := json.Unmarshal(object, &raw); err != nil {
		return nil, err
	}
	all := make(map[string]any, len(raw))
	for name, value := range raw {
		all[name] = value
	}
	return all, nil
}

// extra are the options that go into a request as they are. A name among reserved is an error.
func extra(o host.Options, reserved []string) (map[string]any, error) {
	if len(o.Extra) == 0 {
		return nil, nil
	}
	var faults []error
	all := make(map[string]any, len(o.Extra))
	for _, name := range slices.Sorted(maps.Keys(o.Extra)) {
		value := o.Extra[name]
		switch {
		case slices.Contains(reserved, name):
			faults = append(faults, fmt.Errorf("option %q is the client's own to set: use the option, or the part of the request, that stands for it", name))
		case name == "" || !value.IsValid():
			faults = append(faults, fmt.Errorf("option %q is no JSON value with a name", name))
		default:
			all[name] = value
		}
	}
	return all, errors.Join(faults...)
}

// checkChoice refuses a choice that there are no tools for: the services' own words for that are hard to follow.
func checkChoice(choice host.ToolChoice, tools []host.OfferedTool) error {
	if choice.Mode == host.ToolChoiceRequired && len(tools) == 0 {
		return errors.New("tool_choice is required, and the request has no tools")
	}
	return nil
}

// checkFormat refuses the form of an answer that no service takes.
func checkFormat(f *host.ResponseFormat) error {
	if f == nil || len(f.Schema) == 0 || f.Name != "" && len(f.Name) <= maxName && validName(f.Name) {
		return nil
	}
	return fmt.Errorf("response_format has the name %q: a name has 1 to %d letters, digits, - and _", f.Name, maxName)
}
