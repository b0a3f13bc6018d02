package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/schema"
	"github.com/weft-run/weft/host/tool/internal/toolname"
	"github.com/weft-run/weft/message"
)

var (
	// ErrDepth is returned where agents call each other as tools deeper than [AgentConfig.MaxDepth]. It ends the runs of all
	// of them: any that went on would only try again.
	ErrDepth = errors.New("agents call each other too deep")
	// ErrUnanswered is returned where an agent that is called as a tool ended with a question to its caller: a call that
	// waits for approval, or one of a tool that is declared only.
	ErrUnanswered = errors.New("the agent waits for an answer that a tool call cannot give")
)

// defaultMaxDepth is that of [AgentConfig.MaxDepth].
const defaultMaxDepth = 16

// AgentConfig says how an agent appears as a tool of another. The zero value is fine.
type AgentConfig struct {
	// Name is the tool's name. Default: the agent's name, with _ for each run of characters that tools' names cannot have.
	Name string
	// Description tells the outer model when to call the agent. Default: the agent's description.
	Description string
	// Argument is the name of the only argument, the text that the agent is run with. Default: "task".
	Argument string
	// ArgumentDescription tells the outer model what to write there. Default: "What the agent is to do, with all that it
	// needs to know."
	ArgumentDescription string
	// Session is asked before each run for the conversation that it belongs to. Default: none, so that each call stands for
	// itself. Calls may come at the same time, from several runs: ctx tells which one it is.
	Session func(ctx context.Context) *host.Session
	// OnResponse gets the response of each run that came to one, with the tokens that it used, which the outer run does not
	// count. It must be safe for many goroutines.
	OnResponse func(ctx context.Context, r *host.Response)
	// MaxDepth is how many agents may call each other inside one run: 16 unless set. Where agents differ, the one that is
	// called decides.
	MaxDepth int
	// NeedsApproval is as in [Config].
	NeedsApproval func(call message.FunctionCall) bool
}

// Agent makes a tool of an agent: a call runs it with the text of the argument and returns the text of its response.
// The run ends with the outer one's context. Its errors are the call's, except [ErrDepth], which ends all runs.
//
// What the inner agent's own tools need approved cannot be asked for from inside a tool call and is an error
// ([ErrUnanswered]): let the call of the agent need the approval instead, with NeedsApproval.
func Agent(agent *host.Agent, c AgentConfig) (host.FunctionTool, error) {
	if agent == nil {
		return nil, errors.New("agent as a tool: the agent is nil")
	}
	name := c.Name
	if name == "" {
		name = toolname.Clean(agent.Name())
	}
	if name == "" {
		return nil, fmt.Errorf("%w: no letter or digit in the agent's name %q could be kept: set AgentConfig.Name", host.ErrToolName, agent.Name())
	}
	c.Argument = cmp.Or(c.Argument, "task")
	c.MaxDepth = cmp.Or(c.MaxDepth, defaultMaxDepth)
	parameters, err := argumentSchema(c)
	if err != nil {
		return nil, fmt.Errorf("agent %q as a tool: %w", agent.Name(), err)
	}
	a := &agentTool{agent, c}
	config := Config{
		Name: name, NeedsApproval: c.NeedsApproval,
		Description: cmp.Or(c.Description, agent.Description(), "Asks the agent "+agent.Name()+"."),
	}
	return Raw(config, parameters, a.call)
}

// argumentSchema is an object with the one argument.
func argumentSchema(c AgentConfig) (*schema.Schema, error) {
	document, err := json.Marshal(map[string]any{
		"type": "object", "additionalProperties": false, "required": []string{c.Argument},
		"properties": map[string]any{c.Argument: map[string]any{
			"type":        "string",
			"description": cmp.Or(c.ArgumentDescription, "What the agent is to do, with all that it needs to know."),
		}},
	}, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	return schema.Parse(document)
}

type agentTool struct {
	agent  *host.Agent
	config AgentConfig
}

// depthKey is where a context holds how many agents have called each other.
type depthKey struct{}

func (t *agentTool) call(ctx context.Context, arguments jsontext.Value) (jsontext.Value, error) {
	depth, _ := ctx.Value(depthKey{}).(int)
	if depth++; depth > t.config.MaxDepth {
		return nil, host.Fatal(fmt.Errorf("%w: agent %q would be number %d, and at most %d are allowed", ErrDepth,
			t.agent.Name(), depth, t.config.MaxDepth))
	}
	var texts map[string]string
	if err := json.Unmarshal(arguments, &texts); err != nil {
		return nil, fmt.Errorf("arguments of agent %q: %w", t.agent.Name(), err)
	}
	ctx = context.WithValue(ctx, depthKey{}, depth)
	var run host.RunConfig
	if t.config.Session != nil {
		run.Session = t.config.Session(ctx)
	}
	response, err := t.agent.Run(ctx, host.Text(texts[t.config.Argument]), run)
	if response != nil && t.config.OnResponse != nil {
		t.config.OnResponse(ctx, response)
	}
	switch {
	case errors.Is(err, ErrDepth):
		return nil, host.Fatal(err)
	case err != nil:
		return nil, fmt.Errorf("agent %q: %w", t.agent.Name(), err)
	}
	if err := unanswered(response); err != nil {
		return nil, fmt.Errorf("agent %q: %w", t.agent.Name(), err)
	}
	return encode(t.agent.Name(), response.Text())
}

// unanswered reports a response that ends with something for its caller to do.
func unanswered(r *host.Response) error {
	answered := map[string]bool{}
	var open []message.FunctionCall
	for _, m := range r.Messages {
		for _, content := range m.Contents {
			switch c := content.(type) {
			case message.ApprovalRequest:
				return fmt.Errorf("%w: its call of %s waits for approval: let the call of the agent need it", ErrUnanswered, c.Call.Name)
			case message.FunctionCall:
				open = append(open, c)
			case message.FunctionResult:
				answered[c.CallID] = true
			}
		}
	}
	for _, c := range open {
		if !answered[c.CallID] {
			return fmt.Errorf("%w: its call of %s is not one that the agent can make itself", ErrUnanswered, c.Name)
		}
	}
	return nil
}
