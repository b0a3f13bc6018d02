package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// The values of --approve: what is said to a tool call that needs approval.
const (
	approveAsk  = "ask"
	approveAll  = "all"
	approveNone = "none"
)

// decider decides about one request for approval.
type decider func(ctx context.Context, r message.ApprovalRequest) (message.ApprovalResponse, error)

// errUndecided is a question to which nobody gave an answer. It is asked again.
var errUndecided = errors.New("the call was not decided about; it is asked about again with the next message")

// answers decides about all requests that a response carries. It is nil where there are none.
func (t *talk) answers(ctx context.Context, response *host.Response) ([]*message.Message, error) {
	var requests []message.ApprovalRequest
	for _, m := range response.Messages {
		for _, c := range m.Contents {
			if request, ok := c.(message.ApprovalRequest); ok {
				requests = append(requests, request)
			}
		}
	}
	return t.decideAll(ctx, requests)
}

// decideAll decides about requests. It is nil where there are none.
func (t *talk) decideAll(ctx context.Context, requests []message.ApprovalRequest) ([]*message.Message, error) {
	var contents []message.Content
	for _, request := range requests {
		answer, err := t.decide(ctx, request)
		if err != nil {
			return nil, err
		}
		contents = append(contents, answer)
	}
	if contents == nil {
		return nil, nil
	}
	return []*message.Message{message.New(message.RoleUser, contents...)}, nil
}

// decide decides about one request, as --approve says: where nobody can be asked the call is refused, and that is told.
func (t *talk) decide(ctx context.Context, r message.ApprovalRequest) (message.ApprovalResponse, error) {
	switch {
	case t.flags.approve == approveAll:
		return r.Respond(true), nil
	case t.flags.approve == approveNone:
		return r.Respond(false), nil
	case t.asker != nil:
		return t.asker(ctx, r)
	}
	fmt.Fprintf(t.err, "weft: the call of %s was refused, for nobody is there to be asked; --approve all lets calls run\n", printable(r.Call.Name))
	return r.Respond(false), nil
}

// asking asks at the terminal. Lines are those of the conversation.
func (t *talk) asking(lines <-chan line) decider {
	t.asked = map[string]bool{}
	return func(ctx context.Context, r message.ApprovalRequest) (message.ApprovalResponse, error) {
		t.asked[r.Call.CallID] = true
		screen := t.screen()
		fmt.Fprintf(screen, "The agent wants to call %s %s\n", printable(r.Call.Name), printable(string(r.Call.Arguments)))
		for {
			fmt.Fprint(screen, "Let it? [y]es, [n]o, [a]lways this tool, always these ar[g]uments, ne[v]er this tool: ")
			select {
			case <-ctx.Done():
				return message.ApprovalResponse{}, errors.Join(errUndecided, ctx.Err())
			case l, more := <-lines:
				if !more || l.err != nil {
					return message.ApprovalResponse{}, errors.Join(errUndecided, l.err)
				}
				switch strings.ToLower(strings.TrimSpace(l.text)) {
				case "y", "yes":
					return r.Respond(true), nil
				case "n", "no":
					return r.Respond(false), nil
				case "a", "always":
					return r.RespondAlways(true, message.RememberTool), nil
				case "g", "arguments":
					return r.RespondAlways(true, message.RememberArguments), nil
				case "v", "never":
					return r.RespondAlways(false, message.RememberTool), nil
				}
			}
		}
	}
}
