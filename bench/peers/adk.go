package main

import (
	"context"
	"iter"

	adkagent "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"
)

const adkModule = "google.golang.org/adk/v2"

// adkAgent is an LLM agent of the Agent Development Kit under its Runner. What stands for what:
//
//   - The history: the kit's in-memory session service, which the Runner loads from and appends each event to.
//   - A context provider: a before-model callback that appends its message to the request. The kit builds the request anew
//     from the session for each model call, so the callback adds it each time, after the input.
//   - A chat middleware: a model around the model. The kit's callbacks run before or after a call, and none around it.
//   - The tool: a function tool with an empty struct of arguments, whose values the kit converts and checks.
type adkAgent struct {
	runner   *runner.Runner
	sessions session.Service
}

// Names that the kit wants.
const (
	adkApp     = "app"
	adkUser    = "user"
	adkName    = "agent"
	adkSession = "session"
)

func openADK(_ context.Context, s *script) (agent, error) {
	add := func(_ adkagent.Context, r *model.LLMRequest) (*model.LLMResponse, error) {
		r.Contents = append(r.Contents, genai.NewContentFromText(contextText, genai.RoleUser))
		return nil, nil
	}
	var callbacks []llmagent.BeforeModelCallback
	for range contexts {
		callbacks = append(callbacks, add)
	}
	t, err := functiontool.New(functiontool.Config{Name: toolName, Description: "a tool"},
		func(adkagent.Context, struct{}) (map[string]any, error) {
			return map[string]any{"result": s.tool()}, nil
		})
	if err != nil {
		return nil, err
	}
	root, err := llmagent.New(llmagent.Config{
		Name: adkName, Model: adkWrapped{adkWrapped{adkModel{s}, s}, s}, Tools: []tool.Tool{t}, BeforeModelCallbacks: callbacks,
	})
	if err != nil {
		return nil, err
	}
	a := &adkAgent{sessions: session.InMemoryService()}
	a.runner, err = runner.New(runner.Config{AppName: adkApp, Agent: root, SessionService: a.sessions})
	return a, err
}

func (a *adkAgent) converse(ctx context.Context, history int) (conversation, error) {
	c := &adkConversation{a, history}
	return c, c.fill(ctx)
}

type adkConversation struct {
	*adkAgent
	history int
}

// fill makes the session.
func (c *adkConversation) fill(ctx context.Context) error {
	created, err := c.sessions.Create(ctx, &session.CreateRequest{AppName: adkApp, UserID: adkUser, SessionID: adkSession})
	if err != nil {
		return err
	}
	for byUser, text := range seeds(c.history) {
		event := session.NewEvent(ctx, "before")
		event.Author, event.Content = adkUser, genai.NewContentFromText(text, genai.RoleUser)
		if !byUser {
			event.Author, event.Content = adkName, genai.NewContentFromText(text, genai.RoleModel)
		}
		if err := c.sessions.AppendEvent(ctx, created.Session, event); err != nil {
			return err
		}
	}
	return nil
}

func (c *adkConversation) turn(ctx context.Context) (string, error) {
	var answer string
	message := genai.NewContentFromText(input, genai.RoleUser)
	for event, err := range c.runner.Run(ctx, adkUser, adkSession, message, adkagent.RunConfig{StreamingMode: adkagent.StreamingModeNone}) {
		if err != nil {
			return "", err
		}
		if event.Content != nil && len(event.Content.Parts) > 0 {
			answer = event.Content.Parts[0].Text
		}
	}
	return answer, nil
}

// rewind makes the session anew: the kit takes no event back.
func (c *adkConversation) rewind(ctx context.Context) error {
	if err := c.sessions.Delete(ctx, &session.DeleteRequest{AppName: adkApp, UserID: adkUser, SessionID: adkSession}); err != nil {
		return err
	}
	return c.fill(ctx)
}

func (c *adkConversation) stored(ctx context.Context) (int, error) {
	got, err := c.sessions.Get(ctx, &session.GetRequest{AppName: adkApp, UserID: adkUser, SessionID: adkSession})
	if err != nil {
		return 0, err
	}
	return got.Session.Events().Len(), nil
}

// adkWrapped is a model that does nothing but call another.
type adkWrapped struct {
	model.LLM
	script *script
}

// GenerateContent calls the model.
func (w adkWrapped) GenerateContent(ctx context.Context, r *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	w.script.wrapped.Add(1)
	return w.LLM.GenerateContent(ctx, r, stream)
}

type adkModel struct{ *script }

var _ model.LLM = adkModel{}

// Name is the model's.
func (adkModel) Name() string { return "scripted" }

// GenerateContent asks for the tool where its result is not there yet.
func (m adkModel) GenerateContent(_ context.Context, r *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		if stream {
			yield(nil, errNoStream)
			return
		}
		m.saw(len(r.Contents), func(i int) string { return r.Contents[i].Parts[0].Text })
		content := genai.NewContentFromText(reply, genai.RoleModel)
		if r.Contents[len(r.Contents)-1-contexts].Parts[0].FunctionResponse == nil {
			content = genai.NewContentFromFunctionCall(toolName, map[string]any{}, genai.RoleModel)
			content.Parts[0].FunctionCall.ID = callID
		}
		yield(&model.LLMResponse{Content: content}, nil)
	}
}
