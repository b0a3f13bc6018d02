package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// talk is one start of weft run: an agent, a session, and a way of showing answers.
type talk struct {
	streams
	flags   runFlags
	agent   *host.Agent
	sources []string
	// toolSources are the servers that the agent's tools come from.
	toolSources []string
	session     *host.Session   // nil for a single message that belongs to no session
	file        *sessionFile    // nil where the session is not kept
	asker       decider         // nil where nobody can be asked
	asked       map[string]bool // the calls that somebody was asked about, by id
}

// keepError is an answer that was given and could not be kept. Nothing more is asked then.
type keepError struct{ err error }

// Error is why it could not be kept.
func (e *keepError) Error() string { return e.err.Error() }

func (t *talk) openSession() error {
	if t.flags.session == "" && t.flags.message != "" {
		return nil
	}
	if t.flags.session == "" {
		t.session = host.NewSession("")
		return nil
	}
	var err error
	t.file, t.session, err = openSession(t.flags.session)
	return err
}

// ask gives one message to the agent, and the answers to what it asks about on the way; it shows the answer, and keeps
// the session. What an earlier start left without an answer comes first. The error was not shown yet, unless the answer
// is JSON.
func (t *talk) ask(ctx context.Context, text string) error {
	if !utf8.ValidString(text) {
		return t.shown(errors.New("the message is not valid UTF-8"))
	}
	if t.session != nil {
		pending, err := t.session.PendingApprovals()
		if err != nil {
			return t.shown(err)
		}
		decided, err := t.decideAll(ctx, pending)
		if err != nil {
			return err
		}
		if decided != nil {
			if err := t.untilDone(ctx, decided); err != nil {
				return err
			}
		}
	}
	return t.untilDone(ctx, host.Text(text))
}

// untilDone runs the agent until it asks about nothing more.
func (t *talk) untilDone(ctx context.Context, input []*message.Message) error {
	for {
		response, err := t.turn(ctx, input)
		if err != nil || response == nil {
			return err
		}
		if input, err = t.answers(ctx, response); err != nil || input == nil {
			return err
		}
	}
}

// turn is one run of the agent.
func (t *talk) turn(ctx context.Context, input []*message.Message) (*host.Response, error) {
	tr := &trace{}
	c := host.RunConfig{Session: t.session, Tracer: tr}
	var response *host.Response
	var err error
	if t.flags.json {
		response, err = t.agent.Run(ctx, input, c)
	} else {
		response, err = t.stream(ctx, input, c, tr)
	}
	// A run that failed stores nothing of the conversation, but what it used of a budget counts. The file of a new session is
	// not made for a run that came to no model.
	if t.file != nil && (response != nil || tr.cameToModel()) {
		if kept := t.file.save(t.session); kept != nil {
			err = errors.Join(err, &keepError{kept})
		}
	}
	if t.flags.json {
		return response, t.print(response, tr, err)
	}
	if t.flags.trace {
		tr.print(t.err)
	}
	return response, err
}

// stream shows the answer as it comes, and in a conversation the calls on the way to it.
func (t *talk) stream(ctx context.Context, input []*message.Message, c host.RunConfig, tr *trace) (*host.Response, error) {
	stream := t.agent.Stream(ctx, input, c)
	shown := ""
	tr.called = func(call *message.FunctionCall) {
		if t.asker == nil || t.asked[call.CallID] {
			return
		}
		if shown != "" && !strings.HasSuffix(shown, "\n") {
			fmt.Fprintln(t.out)
			shown = ""
		}
		fmt.Fprintf(t.err, "[calls %s %s]\n", printable(call.Name), printable(shortened(string(call.Arguments))))
	}
	for update, err := range stream.Updates() {
		if err != nil {
			break // Response has it too
		}
		if piece := printableLines(update.Text()); piece != "" {
			fmt.Fprint(t.out, piece)
			shown = piece
		}
	}
	if shown != "" && !strings.HasSuffix(shown, "\n") {
		fmt.Fprintln(t.out)
	}
	return stream.Response()
}

// answerJSON is one line of weft run --json.
type answerJSON struct {
	Text             *string    `json:"text,omitempty"`
	ApprovalRequests []callJSON `json:"approval_requests,omitempty"`
	RunID            string     `json:"run_id,omitempty"`
	Usage            *usageJSON `json:"usage,omitempty"`
	Trace            []hookJSON `json:"trace,omitempty"`
	Error            *errorJSON `json:"error,omitempty"`
}

// callJSON is a call that waits for approval. The line of what it came to follows.
type callJSON struct {
	CallID    string         `json:"call_id"`
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments,omitempty"`
}

type usageJSON struct {
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
}

// errorJSON says what failed: source_id and hook where it was a provider.
type errorJSON struct {
	Message  string `json:"message"`
	SourceID string `json:"source_id,omitempty"`
	Hook     string `json:"hook,omitempty"`
}

// print shows an answer as JSON. It returns errReported where there was an error, which is part of what it prints.
func (t *talk) print(response *host.Response, tr *trace, err error) error {
	a := answerJSON{RunID: tr.runID}
	if response != nil {
		a.Text = new(response.Text())
		a.ApprovalRequests = requestsOf(response)
		if u := response.Usage; u != nil {
			a.Usage = &usageJSON{u.InputTokens, u.OutputTokens}
		}
	}
	if t.flags.trace {
		a.Trace = tr.json()
	}
	if err != nil {
		a.Error = &errorJSON{Message: err.Error()}
		var hook *host.HookError
		if errors.As(err, &hook) {
			a.Error.SourceID, a.Error.Hook = hook.SourceID, hook.Hook
		}
	}
	if broken := printJSON(t.out, a); broken != nil {
		return broken
	}
	var kept *keepError
	switch {
	case errors.As(err, &kept):
		return err
	case err != nil:
		return errReported
	}
	return nil
}

func requestsOf(response *host.Response) []callJSON {
	var calls []callJSON
	for _, m := range response.Messages {
		for _, c := range m.Contents {
			if r, ok := c.(message.ApprovalRequest); ok {
				calls = append(calls, callJSON{r.Call.CallID, r.Call.Name, r.Call.Arguments})
			}
		}
	}
	return calls
}

// shown is an error of a message that was never given to the agent.
func (t *talk) shown(err error) error {
	if t.flags.json {
		return t.print(nil, &trace{}, err)
	}
	return err
}

// answerOne answers one message.
func (t *talk) answerOne(ctx context.Context, text string) error {
	return interrupted(t.ask(ctx, text))
}
