package main

import (
	"context"
	"errors"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
)

const einoModule = "github.com/cloudwego/eino"

// errNoStream is what the scripted models return for a stream: no run here asks for one.
var errNoStream = errors.New("the scripted model does not stream")

// einoAgent is Eino's ChatModelAgent under its Runner. What stands for what:
//
//   - The history: Eino keeps none between runs. The caller does, in a slice that it hands to each run and appends the run's
//     messages to. So there is nothing to look up, to load or to guard, which is to Eino's favour.
//   - A context provider: a handler that adds its message to the agent's state before the model call. Eino keeps the state
//     for the whole run, so the handler adds it at the first call only, in front of the input.
//   - A chat middleware: a handler that wraps the model.
//   - The tool: an InvokableTool, with nothing between it and its JSON.
type einoAgent struct{ runner *adk.Runner }

func openEino(ctx context.Context, s *script) (agent, error) {
	var handlers []adk.ChatModelAgentMiddleware
	for range contexts {
		handlers = append(handlers, &einoProvider{})
	}
	for range 2 {
		handlers = append(handlers, &einoMiddleware{script: s})
	}
	a, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "agent", Description: "an agent", Model: einoModel{s}, Handlers: handlers,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{einoTool{s}}}},
	})
	if err != nil {
		return nil, err
	}
	return einoAgent{adk.NewRunner(ctx, adk.RunnerConfig{Agent: a})}, nil
}

func (a einoAgent) converse(_ context.Context, history int) (conversation, error) {
	c := &einoConversation{runner: a.runner, history: history}
	for byUser, text := range seeds(history) {
		m := schema.UserMessage(text)
		if !byUser {
			m = schema.AssistantMessage(text, nil)
		}
		c.messages = append(c.messages, m)
	}
	return c, nil
}

type einoConversation struct {
	runner   *adk.Runner
	messages []*schema.Message
	history  int
}

func (c *einoConversation) turn(ctx context.Context) (string, error) {
	c.messages = append(c.messages, schema.UserMessage(input))
	events := c.runner.Run(ctx, c.messages)
	for {
		event, ok := events.Next()
		if !ok {
			return c.messages[len(c.messages)-1].Content, nil
		}
		if event.Err != nil {
			return "", event.Err
		}
		if event.Output != nil && event.Output.MessageOutput != nil {
			c.messages = append(c.messages, event.Output.MessageOutput.Message)
		}
	}
}

func (c *einoConversation) rewind(context.Context) error {
	c.messages = c.messages[:c.history]
	return nil
}

func (c *einoConversation) stored(context.Context) (int, error) { return len(c.messages), nil }

type einoProvider struct {
	adk.BaseChatModelAgentMiddleware
}

var _ adk.ChatModelAgentMiddleware = (*einoProvider)(nil)

// BeforeModelRewriteState adds the provider's message before the first model call of a run.
func (*einoProvider) BeforeModelRewriteState(ctx context.Context, state *adk.ChatModelAgentState, _ *adk.ModelContext) (context.Context, *adk.ChatModelAgentState, error) {
	if last := len(state.Messages) - 1; state.Messages[last].Role == schema.User {
		state.Messages = slices.Insert(state.Messages, last, schema.UserMessage(contextText))
	}
	return ctx, state, nil
}

type einoMiddleware struct {
	adk.BaseChatModelAgentMiddleware
	script *script
}

var _ adk.ChatModelAgentMiddleware = (*einoMiddleware)(nil)

// WrapModel puts a model around the model that does nothing but call it.
func (m *einoMiddleware) WrapModel(_ context.Context, inner model.BaseChatModel, _ *adk.ModelContext) (model.BaseChatModel, error) {
	return einoWrapped{inner, m.script}, nil
}

type einoWrapped struct {
	model.BaseChatModel
	script *script
}

// Generate calls the model.
func (w einoWrapped) Generate(ctx context.Context, messages []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	w.script.wrapped.Add(1)
	return w.BaseChatModel.Generate(ctx, messages, opts...)
}

type einoModel struct{ *script }

var _ model.BaseChatModel = einoModel{}

// Generate asks for the tool where its result is not there yet.
func (m einoModel) Generate(_ context.Context, messages []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	m.saw(len(messages), func(i int) string {
		if messages[i].Role == schema.Tool {
			return ""
		}
		return messages[i].Content
	})
	if messages[len(messages)-1].Role == schema.Tool {
		return schema.AssistantMessage(reply, nil), nil
	}
	return schema.AssistantMessage("", []schema.ToolCall{{
		ID: callID, Type: "function", Function: schema.FunctionCall{Name: toolName, Arguments: "{}"},
	}}), nil
}

// Stream is not used.
func (einoModel) Stream(context.Context, []*schema.Message, ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	return nil, errNoStream
}

type einoTool struct{ *script }

var _ tool.InvokableTool = einoTool{}

// Info names the tool.
func (einoTool) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: toolName}, nil
}

// InvokableRun is the tool's work.
func (t einoTool) InvokableRun(context.Context, string, ...tool.Option) (string, error) {
	return t.tool(), nil
}
