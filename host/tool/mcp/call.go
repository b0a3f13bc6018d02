package mcp

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// ToolError is an error that a tool itself returned, in the server's words.
type ToolError struct {
	SourceID string
	// Tool is the name that the server has for it.
	Tool string
	Text string
}

// Error is the tool and its words.
func (e *ToolError) Error() string {
	return fmt.Sprintf("mcp server %q: tool %q: %s", e.SourceID, e.Tool, e.Text)
}

// remote is one tool of a server.
type remote struct {
	server     *Server
	name       string // the server's for it
	definition host.ToolDefinition
	// repeatable, destructive: as the server says.
	repeatable, destructive bool
	asks                    bool
}

var _ host.ApprovalTool = (*remote)(nil)

func (r *remote) Definition() host.ToolDefinition { return r.definition }

func (r *remote) NeedsApproval(message.FunctionCall) bool { return r.asks }

// Call calls the tool on the server.
func (r *remote) Call(ctx context.Context, arguments jsontext.Value) (jsontext.Value, error) {
	s := r.server
	bounded, cancel := s.bounded(ctx, s.config.CallTimeout)
	defer cancel()
	params := &sdk.CallToolParams{Name: r.name, Arguments: stdjson.RawMessage("{}")}
	if len(bytes.TrimSpace(arguments)) > 0 {
		params.Arguments = stdjson.RawMessage(arguments)
	}
	var result *sdk.CallToolResult
	err := s.try(bounded, r.repeatable, s.connected, func(ctx context.Context, session *sdk.ClientSession) (err error) {
		result, err = session.CallTool(ctx, params)
		return err
	})
	if err != nil {
		return nil, s.failed(bounded, fmt.Sprintf("call %q", r.name), err)
	}
	return r.read(result)
}

// read makes JSON of a result that a model can read.
func (r *remote) read(result *sdk.CallToolResult) (jsontext.Value, error) {
	fail := func(err error) (jsontext.Value, error) {
		return nil, fmt.Errorf("mcp server %q: result of %q: %w", r.server.config.SourceID, r.name, err)
	}
	if len(result.InputRequests) > 0 {
		return fail(fmt.Errorf("%w: it asks its caller for more input, which is not supported", errTool))
	}
	if result.IsError {
		text, _ := plain(result.Content)
		return nil, &ToolError{r.server.config.SourceID, r.name, shorten(text, r.server.config.MaxResult)}
	}
	value, err := content(result)
	if err != nil {
		return fail(err)
	}
	if len(value) > r.server.config.MaxResult {
		return fail(fmt.Errorf("%w: %d bytes, at most %d are allowed, see MaxResult", ErrResultTooLarge, len(value), r.server.config.MaxResult))
	}
	return value, nil
}

func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// content is the structured content, or a text, or a list of what there is.
func content(result *sdk.CallToolResult) (jsontext.Value, error) {
	text, onlyText := plain(result.Content)
	if result.StructuredContent != nil {
		if onlyText && same(text, result.StructuredContent) {
			return jsontext.Value(text), nil // the server's own writing keeps the digits of its numbers
		}
		return json.Marshal(result.StructuredContent, json.Deterministic(true))
	}
	if onlyText {
		return json.Marshal(strings.ToValidUTF8(text, "\uFFFD"))
	}
	parts := make([]part, len(result.Content))
	for i, c := range result.Content {
		parts[i] = describePart(c)
	}
	return json.Marshal(parts)
}

// same reports whether a text is JSON, and that of a value.
func same(text string, value any) bool {
	if !jsontext.Value(text).IsValid() {
		return false
	}
	var read any
	return stdjson.Unmarshal([]byte(text), &read) == nil && reflect.DeepEqual(read, value)
}

// plain is the texts of a content, a line each, and whether it has nothing else.
func plain(all []sdk.Content) (string, bool) {
	var texts []string
	for _, c := range all {
		if t, ok := c.(*sdk.TextContent); ok {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n"), len(texts) == len(all)
}

// part describes one piece of a result. The bytes of pictures and sound are left out: in the text of a result they say
// nothing to a model.
type part struct {
	Type        string `json:"type"`
	Text        string `json:"text,omitzero"`
	URI         string `json:"uri,omitzero"`
	Name        string `json:"name,omitzero"`
	Description string `json:"description,omitzero"`
	MIMEType    string `json:"mime_type,omitzero"`
	Bytes       int    `json:"bytes,omitzero"`
}

func describePart(c sdk.Content) part {
	clean := func(p part) part {
		for _, text := range []*string{&p.Text, &p.URI, &p.Name, &p.Description, &p.MIMEType} {
			*text = strings.ToValidUTF8(*text, "\uFFFD")
		}
		return p
	}
	switch c := c.(type) {
	case *sdk.TextContent:
		return clean(part{Type: "text", Text: c.Text})
	case *sdk.ImageContent:
		return clean(part{Type: "image", MIMEType: c.MIMEType, Bytes: len(c.Data)})
	case *sdk.AudioContent:
		return clean(part{Type: "audio", MIMEType: c.MIMEType, Bytes: len(c.Data)})
	case *sdk.ResourceLink:
		return clean(part{Type: "resource_link", URI: c.URI, Name: c.Name, Description: c.Description, MIMEType: c.MIMEType})
	case *sdk.EmbeddedResource:
		if r := c.Resource; r != nil {
			return clean(part{Type: "resource", URI: r.URI, Text: r.Text, MIMEType: r.MIMEType, Bytes: len(r.Blob)})
		}
	}
	return part{Type: "unknown"}
}
