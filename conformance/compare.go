package conformance

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// compareError compares an error's text; where none is expected, there must be none.
func (p *play) compareError(path string, want Wanted[string], have error) {
	wanted := "no error"
	if want.Set {
		wanted = "an error that contains " + inJSON(want.Value)
	}
	switch {
	case have == nil && want.Set:
		p.result.differ(path, wanted, "no error")
	case have != nil && (!want.Set || !contains(have.Error(), want.Value)):
		p.result.differ(path, wanted, have.Error())
	}
}

// compareTurn compares what is expected of one turn.
func (p *play) compareTurn(path string, want TurnExpect, have seenTurn) {
	r := p.result
	p.compareError(path+"/error", want.Error, have.err)
	var messages []*message.Message
	var usage *host.Usage
	if have.response != nil {
		messages, usage = have.response.Messages, have.response.Usage
	}
	if want.Updates.Set {
		r.messages(path+"/updates", want.Updates.Value, show(have.updates))
	}
	if want.Messages.Set {
		r.messages(path+"/messages", want.Messages.Value, show(messages))
	}
	text := inJSON(message.JoinText(messages))
	if have.response == nil {
		text = "no response"
	}
	if want.Text.Set && inJSON(want.Text.Value) != text {
		r.differ(path+"/text", inJSON(want.Text.Value), text)
	}
	if part := want.TextContains; part.Set && (have.response == nil || !contains(message.JoinText(messages), part.Value)) {
		r.differ(path+"/text_contains", "a text that contains "+inJSON(part.Value), text)
	}
	if want.RequestsForApproval.Set {
		r.texts(path+"/requests_for_approval", want.RequestsForApproval.Value, waitingCalls(have.response))
	}
	if want.Usage.Set && (usage == nil || *usage != want.Usage.Value) {
		r.differ(path+"/usage", showUsage(&want.Usage.Value), showUsage(usage))
	}
}

func showUsage(u *host.Usage) string {
	if u == nil {
		return absent
	}
	return fmt.Sprintf(`{"input_tokens":%d,"output_tokens":%d}`, u.InputTokens, u.OutputTokens)
}

// compare compares what is expected of the whole scenario.
func (p *play) compare() {
	want, r := &p.scenario.Expect, p.result
	requests, err := p.model.seen()
	if err != nil {
		r.differ("/expect/requests", "requests that can be shown", err.Error())
	}
	if n := len(p.scenario.Model.Replies); len(requests) > n {
		r.differ("/model/replies", fmt.Sprintf("%d model calls at most", n), fmt.Sprintf("%d", len(requests)))
	}
	if want.Requests.Set {
		p.compareRequests(want.Requests.Value, requests)
	}
	if want.Log.Set {
		r.texts("/expect/log", want.Log.Value, p.log)
	}
	for _, s := range want.State {
		p.compareState(s)
	}
	if want.ToolRuns.Set {
		p.compareToolRuns(want.ToolRuns.Value)
	}
	for _, id := range want.SessionID {
		if have := p.sessionNamed(id.Session).ServiceSessionID(); have != id.ID {
			r.differ("/expect/service_session_id/"+id.Session, orAbsent(id.ID), orAbsent(have))
		}
	}
	if want.Warnings.Set {
		p.compareWarnings(want.Warnings.Value, p.warnings.list())
	}
}

// sessionNamed is a session of the scenario; an empty one in place of one that could not be made.
func (p *play) sessionNamed(name string) *host.Session {
	if s := p.sessions[name]; s != nil {
		return s
	}
	return host.NewSession(name)
}

func orAbsent(text string) string {
	if text == "" {
		return absent
	}
	return inJSON(text)
}

func (p *play) compareRequests(want []Request, have []seenRequest) {
	for i := range max(len(want), len(have)) {
		at := fmt.Sprintf("/expect/requests/%d", i)
		switch {
		case i >= len(have):
			p.result.differ(at, "a model call", absent)
		case i >= len(want):
			p.result.differ(at, absent, "a model call with "+inJSON(have[i].messages))
		default:
			p.result.request(at, want[i], have[i])
		}
	}
}

// compareState compares the buckets that are named, each as a whole. Where none is named, all must be empty.
func (p *play) compareState(want SessionState) {
	path := string(jsontext.Pointer("/expect/state").AppendToken(want.Session))
	session := p.sessionNamed(want.Session)
	if len(want.Sources) == 0 {
		for _, source := range session.Sources() {
			p.compareBucket(path, session, SourceState{SourceID: source, Value: jsontext.Value("{}")})
		}
	}
	for _, source := range want.Sources {
		at := string(jsontext.Pointer(path).AppendToken(source.SourceID))
		p.compareBucket(at, session, source)
	}
}

func (p *play) compareBucket(path string, session *host.Session, want SourceState) {
	have := jsontext.Value("{}")
	if slices.Contains(session.Sources(), want.SourceID) { // asking for a bucket would make it
		raw, err := session.State(want.SourceID).Raw()
		if err != nil {
			p.result.differ(path, "a state that can be read", err.Error())
			return
		}
		have = raw
	}
	bucket, err := newNode("", have)
	if err != nil {
		p.result.differ(path, "a state that can be read", err.Error())
		return
	}
	switch {
	case want.History:
		messages, err := historyIn(bucket)
		if err != nil {
			p.result.differ(path, "messages", err.Error())
			return
		}
		p.result.messages(path+"/messages", want.Messages, show(messages))
	case !p.scenario.Agent.scripted(want.SourceID) && sameJSON(have, jsontext.Value(`{"messages":[]}`)):
		have = jsontext.Value("{}") // nothing is in an empty history
		fallthrough
	default:
		if !sameJSON(want.Value, have) {
			p.result.differ(path, string(tidy(want.Value)), string(tidy(have)))
		}
	}
}

// historyIn reads the messages of a history's bucket, which holds nothing else.
func historyIn(bucket *node) ([]*message.Message, error) {
	var messages []*message.Message
	for _, name := range bucket.names {
		if name != "messages" {
			return nil, fmt.Errorf("a key %q beside the messages", name)
		}
		for _, n := range bucket.byKey[name].list {
			m := &message.Message{}
			if err := m.UnmarshalJSON(n.raw); err != nil {
				return nil, err
			}
			messages = append(messages, m)
		}
	}
	return messages, nil
}

// compareToolRuns compares the executions of tools in any order.
func (p *play) compareToolRuns(want []ToolRun) {
	left := slices.Clone(p.toolRuns)
	for i, w := range want {
		at := slices.IndexFunc(left, func(h ToolRun) bool { return h.Name == w.Name && sameJSON(h.Arguments, w.Arguments) })
		if at < 0 {
			p.result.differ(fmt.Sprintf("/expect/tool_runs/%d", i), inJSON(w), absent)
			continue
		}
		left = slices.Delete(left, at, at+1)
	}
	for _, h := range left {
		p.result.differ("/expect/tool_runs", absent, inJSON(h))
	}
}

// compareWarnings looks for each part in exactly as many warnings as it is listed; without any part there must be no
// warning.
func (p *play) compareWarnings(want, have []string) {
	if len(want) == 0 && len(have) > 0 {
		p.result.differ("/expect/warnings", "no warning", inJSON(have))
		return
	}
	listed, order := map[string]int{}, []string(nil)
	for _, part := range want {
		if listed[part]++; listed[part] == 1 {
			order = append(order, part)
		}
	}
	for _, part := range order {
		n := 0
		for _, w := range have {
			if contains(w, part) {
				n++
			}
		}
		if n != listed[part] {
			p.result.differ("/expect/warnings", fmt.Sprintf("%d with %s", listed[part], inJSON(part)), inJSON(have))
		}
	}
}
