package middleware

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/weft-run/weft/host"
)

// ErrPII is what a [PIIError] is.
var ErrPII = errors.New("personal data or a secret")

// PIIAction says what is done with what a detector finds.
type PIIAction string

// The actions.
const (
	// PIIRedact puts the detector's label in its place. It is the default.
	PIIRedact PIIAction = "redact"
	// PIIBlock ends the run with a [PIIError].
	PIIBlock PIIAction = "block"
	// PIIPass looks at nothing.
	PIIPass PIIAction = "pass"
)

// PIIConfig says what is looked for, and where. The zero value redacts all that the package can find, everywhere.
type PIIConfig struct {
	// Detectors say what is looked for. Default: [AllDetectors].
	Detectors []Detector
	// Input is for what the user says. Default: [PIIRedact].
	Input PIIAction
	// ToolResults is for what tools return, and for the texts of their errors. Default: [PIIRedact].
	ToolResults PIIAction
	// Output is for what the model says. Default: [PIIRedact].
	Output PIIAction
	// KeepInstructions sends instructions and system messages to the model as they are. Default: they are redacted like
	// all that the model gets, unless Input is [PIIPass].
	KeepInstructions bool
}

func (c PIIConfig) withDefaults() PIIConfig {
	if c.Detectors == nil {
		c.Detectors = AllDetectors()
	}
	c.Input = orDefault(c.Input, PIIRedact)
	c.ToolResults = orDefault(c.ToolResults, PIIRedact)
	c.Output = orDefault(c.Output, PIIRedact)
	return c
}

// PIIError ended a run in which something was found that is to be blocked. It does not hold what was found.
type PIIError struct {
	// Where is input, tool result or output.
	Where string
	// Labels are those of the detectors that found something.
	Labels []string
}

// Error says where, and which labels.
func (e *PIIError) Error() string {
	return fmt.Sprintf("%v in the %s: %s", ErrPII, e.Where, strings.Join(e.Labels, ", "))
}

// Unwrap is [ErrPII].
func (e *PIIError) Unwrap() error { return ErrPII }

// The places that a [PIIError] names.
const (
	inInput      = "input"
	inToolResult = "tool result"
	inOutput     = "output"
)

type pii struct{ config PIIConfig }

var (
	_ host.AgentMiddleware    = (*pii)(nil)
	_ host.ChatMiddleware     = (*pii)(nil)
	_ host.FunctionMiddleware = (*pii)(nil)
)

// NewPII returns a guard that redacts personal data and secrets, or ends runs in which they occur. It uses all three
// layers and belongs outermost in each.
//
//   - Input is looked at before anything else sees it, so it is stored redacted. All that goes to the model is looked at
//     once more, and redacted, never blocked: messages that an older history holds, what providers add, instructions. What
//     is stored already stays as it is.
//   - Tool results are looked at when the tool returns: strings and names of members, and numbers that are found as a
//     whole, which become strings.
//   - Output is looked at before it leaves, is stored, or is shown, reasoning too. In a stream the end of a text is held
//     back for as long as something that is looked for could still be growing: the word under way as a rule, at most 320
//     runes, the longest e-mail address, or what the longest [Pattern] may match. A text ends with its message, or where
//     content of another kind follows. Blocking ends a stream before anything of what was found left; what stood before it
//     may have left.
//
// Calls of tools are never changed, whoever wrote their arguments: what was asked for, approved and run must be the same.
// Nor are data: URIs, the properties of messages, errors that end a run, and events ([host.Emit]), which go straight to
// the caller.
func NewPII(c PIIConfig) host.Middleware {
	p := &pii{c.withDefaults()}
	return host.Middleware{
		Agent:    []host.AgentMiddleware{p},
		Chat:     []host.ChatMiddleware{p},
		Function: []host.FunctionMiddleware{p},
	}
}

// SourceType is what traces call it.
func (*pii) SourceType() string { return "pii" }

// ProcessAgent looks at the input, and at all that leaves.
func (p *pii) ProcessAgent(ctx context.Context, c *host.AgentContext, next host.Next) error {
	if p.config.Input != PIIPass {
		messages, found := p.redacted(c.Messages, nil)
		if len(found) > 0 && p.config.Input == PIIBlock {
			return &PIIError{Where: inInput, Labels: found}
		}
		c.Messages = messages
	}
	c.OnStream(p.hooks())
	return p.checkOutput(next(ctx), &c.Result)
}

// ProcessChat looks at what goes to the model and at what it says, before that is stored.
func (p *pii) ProcessChat(ctx context.Context, c *host.ChatContext, next host.Next) error {
	if p.config.Input != PIIPass {
		c.Request.Messages, _ = p.redacted(c.Request.Messages, p.trusted)
		if !p.config.KeepInstructions {
			c.Request.Instructions, _ = redactText(p.config.Detectors, c.Request.Instructions)
		}
	}
	c.OnStream(p.hooks())
	return p.checkOutput(next(ctx), &c.Result)
}

// checkOutput looks at the result of a layer, also where middleware further in terminated with it.
func (p *pii) checkOutput(err error, result **host.Response) error {
	if *result == nil || p.config.Output == PIIPass || err != nil && !errors.Is(err, host.ErrTerminate) {
		return err
	}
	messages, found := p.redacted((*result).Messages, nil)
	if len(found) > 0 && p.config.Output == PIIBlock {
		*result = nil
		return &PIIError{Where: inOutput, Labels: found}
	}
	if len(found) > 0 {
		clean := **result
		clean.Messages = messages
		*result = &clean
	}
	return err
}

// ProcessFunction looks at what a tool returns.
func (p *pii) ProcessFunction(ctx context.Context, c *host.FunctionContext, next host.Next) error {
	err := next(ctx)
	if p.config.ToolResults == PIIPass {
		return err
	}
	var found []string
	if err != nil && !errors.Is(err, host.ErrTerminate) {
		text, labels := redactText(p.config.Detectors, err.Error())
		if len(labels) == 0 {
			return err
		}
		found, err = labels, &redactedError{text, err}
	} else {
		c.Result, found = redactJSON(p.config.Detectors, c.Result)
	}
	if len(found) > 0 && p.config.ToolResults == PIIBlock {
		return host.Fatal(&PIIError{Where: inToolResult, Labels: found})
	}
	return err
}

// redactedError is an error with another text, which the model may be told.
type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.err }
