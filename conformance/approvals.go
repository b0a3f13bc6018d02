package conformance

import (
	"fmt"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// input is what a turn hands to the agent: its messages, or the answers to requests for approval.
func (p *play) input(t *Turn) ([]*message.Message, error) {
	if len(t.Approve) == 0 {
		return toHost(t.Input), nil
	}
	answers := message.New(message.RoleUser)
	for _, m := range t.Approve {
		request, ok := p.requests[m.Name]
		if !ok {
			return nil, fmt.Errorf("no response asked about call %q", m.Name)
		}
		answers.Contents = append(answers.Contents, request.Respond(m.Value.Kind() == 't'))
	}
	return []*message.Message{answers}, nil
}

// approvalRequests are the requests that a response carries.
func approvalRequests(r *host.Response) []message.ApprovalRequest {
	var requests []message.ApprovalRequest
	if r == nil {
		return nil
	}
	for _, m := range r.Messages {
		for _, c := range m.Contents {
			if request, ok := c.(message.ApprovalRequest); ok {
				requests = append(requests, request)
			}
		}
	}
	return requests
}

// waitingCalls are the call ids that a response asks about.
func waitingCalls(r *host.Response) []string {
	var ids []string
	for _, request := range approvalRequests(r) {
		ids = append(ids, request.Call.CallID)
	}
	return ids
}
