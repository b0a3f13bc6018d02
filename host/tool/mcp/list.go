package mcp

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/schema"
	"github.com/weft-run/weft/host/tool/internal/toolname"
)

const (
	// maxPages bounds how many pages a list may have.
	maxPages = 64
	// maxDescription bounds what a model is told of one tool. The rest is cut off.
	maxDescription = 8 << 10
	// maxTold bounds what is remembered of what was logged.
	maxTold = 1024
)

// list reads all pages and makes tools of what can be used.
func (s *Server) list(ctx context.Context, session *sdk.ClientSession) ([]host.Tool, error) {
	var listed []*sdk.Tool
	cursor, seen := "", map[string]bool{}
	for {
		page, err := session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, err
		}
		listed = append(listed, page.Tools...)
		if len(listed) > s.config.MaxTools {
			return nil, fmt.Errorf("%w: more than %d tools, see MaxTools", ErrList, s.config.MaxTools)
		}
		cursor = page.NextCursor
		switch {
		case cursor == "":
			return s.usable(listed)
		case seen[cursor]:
			return nil, fmt.Errorf("%w: the server names one page twice as the next", ErrList)
		case len(seen) == maxPages-1:
			return nil, fmt.Errorf("%w: more than %d pages", ErrList, maxPages)
		}
		seen[cursor] = true
	}
}

// errTool marks an error that a tool was refused with, which is none of the connection.
var errTool = errors.New("a tool cannot be used")

// usable makes tools of those listed. What cannot be used is left out and logged, or an error.
func (s *Server) usable(listed []*sdk.Tool) ([]host.Tool, error) {
	var tools []host.Tool
	var faults []error
	names, offered := map[string]string{}, map[string]bool{}
	for _, t := range listed {
		offered[t.Name] = true
		if s.config.Allow != nil && !slices.Contains(s.config.Allow, t.Name) {
			continue
		}
		r, err := s.newRemote(t)
		if err == nil {
			if other, taken := names[r.definition.Name]; taken {
				err = fmt.Errorf("%w %q: the server's tool %.80q has that name already", host.ErrDuplicateTool, r.definition.Name, other)
			}
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("tool %.80q: %w", t.Name, err))
			continue
		}
		names[r.definition.Name] = t.Name
		tools = append(tools, r)
	}
	if s.config.Strict && len(faults) > 0 {
		return nil, fmt.Errorf("%w: %w", errTool, errors.Join(faults...))
	}
	for _, err := range faults {
		s.tell("a tool of an MCP server is left out", err.Error())
	}
	for _, name := range s.config.Allow {
		if !offered[name] {
			s.tell("the configuration allows a tool that the MCP server does not have", name)
		}
	}
	for name := range s.config.ApprovalOf {
		if !offered[name] {
			s.tell("the configuration speaks of the approval of a tool that the MCP server does not have", name)
		}
	}
	return tools, nil
}

// tell logs a warning once.
func (s *Server) tell(text, reason string) {
	s.mu.Lock()
	known := s.told[text+reason]
	if len(s.told) > maxTold {
		clear(s.told)
	}
	s.told[text+reason] = true
	s.mu.Unlock()
	if !known {
		s.config.Logger.LogAttrs(s.life, slog.LevelWarn, text, slog.String("source_id", s.config.SourceID), slog.String("reason", reason))
	}
}

// newRemote makes a tool of one that the server lists.
func (s *Server) newRemote(t *sdk.Tool) (*remote, error) {
	name := s.config.Prefix + toolname.Clean(t.Name)
	if name == s.config.Prefix {
		return nil, fmt.Errorf("%w: no letter or digit in it could be kept", host.ErrToolName)
	}
	if err := toolname.Check(name); err != nil {
		return nil, err
	}
	r := &remote{server: s, name: t.Name, definition: host.ToolDefinition{Name: name, Description: describe(t)}}
	if t.InputSchema != nil {
		document, err := stdjson.Marshal(t.InputSchema)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", schema.ErrSchema, err)
		}
		parameters, err := schema.Parse(document)
		if err != nil {
			return nil, err
		}
		r.definition.Parameters = parameters
	}
	if a := t.Annotations; a != nil {
		r.repeatable = a.ReadOnlyHint || a.IdempotentHint
		r.destructive = !a.ReadOnlyHint && (a.DestructiveHint == nil || *a.DestructiveHint)
	} else {
		r.destructive = true
	}
	approval := s.config.Approval
	if own, ok := s.config.ApprovalOf[t.Name]; ok {
		approval = own
	}
	r.asks = approval == Always || approval == ByAnnotations && r.destructive
	return r, nil
}

// describe is what a model is told of a tool.
func describe(t *sdk.Tool) string {
	text := t.Description
	if text == "" {
		text = t.Title
	}
	if text == "" && t.Annotations != nil {
		text = t.Annotations.Title
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) > maxDescription {
		text = strings.ToValidUTF8(text[:maxDescription], "") + "…"
	}
	return text
}
