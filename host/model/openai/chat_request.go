package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// chat is the protocol of chat completions.
type chat struct {
	service     sdk.ChatCompletionService
	maxTokens   string // the name of that option
	streamUsage bool
}

var _ protocol = (*chat)(nil)

func newChat(options []option.RequestOption, maxTokens string, streamUsage bool) *chat {
	return &chat{service: sdk.NewChatCompletionService(options...), maxTokens: maxTokens, streamUsage: streamUsage}
}

// chatReserved are the names of a request that are not for [host.Options.Extra].
var chatReserved = []string{
	"messages", "model", "stream", "stream_options", "tools", "tool_choice", "response_format", "temperature", "top_p",
	fieldMaxTokens, fieldMaxCompletionTokens, "seed", "stop", "store", "n", "functions", "function_call",
}

func (c *chat) post(ctx context.Context, request *host.ChatRequest, stream bool) (*http.Response, error) {
	params, err := c.params(request)
	if err != nil {
		return nil, err
	}
	var response *http.Response
	options := []option.RequestOption{option.WithResponseBodyInto(&response)}
	if stream {
		options = append(options, option.WithHeader("Accept", eventStream), option.WithJSONSet("stream", true))
		if c.streamUsage {
			params.StreamOptions.IncludeUsage = sdk.Bool(true)
		}
	}
	_, err = c.service.New(ctx, params, options...)
	return response, err
}

// params is the request in the SDK's types, or all that cannot be sent.
func (c *chat) params(request *host.ChatRequest) (sdk.ChatCompletionNewParams, error) {
	o := request.Options
	params := sdk.ChatCompletionNewParams{Model: o.Model}
	var faults []error
	if request.ConversationID != "" {
		faults = append(faults, fmt.Errorf("conversation id %q: with chat completions the service keeps no conversations; use the API %q, or a session without it", request.ConversationID, Responses))
	}
	if request.Instructions != "" {
		params.Messages = append(params.Messages, sdk.SystemMessage(request.Instructions))
	}
	for i, m := range request.Messages {
		messages, err := chatMessages(m)
		faults = append(faults, inMessage(i, err))
		params.Messages = append(params.Messages, messages...)
	}
	for _, t := range request.Tools {
		definition := t.Definition()
		schema, err := parameters(definition)
		faults = append(faults, err)
		function := shared.FunctionDefinitionParam{Name: definition.Name, Parameters: schema}
		if definition.Description != "" {
			function.Description = sdk.String(definition.Description)
		}
		params.Tools = append(params.Tools, sdk.ChatCompletionFunctionTool(function))
	}
	if len(request.Tools) > 0 {
		params.ToolChoice = chatChoice(o.ToolChoice)
	}
	faults = append(faults, checkChoice(o.ToolChoice, request.Tools), checkFormat(o.ResponseFormat))
	if f := o.ResponseFormat; f != nil {
		params.ResponseFormat = chatFormat(f)
	}
	c.set(&params, o)
	more, err := extra(o, chatReserved)
	if len(more) > 0 {
		params.SetExtraFields(more)
	}
	return params, errors.Join(append(faults, err)...)
}

// set sets the options that are values.
func (c *chat) set(params *sdk.ChatCompletionNewParams, o host.Options) {
	if o.Temperature != nil {
		params.Temperature = sdk.Float(*o.Temperature)
	}
	if o.TopP != nil {
		params.TopP = sdk.Float(*o.TopP)
	}
	if o.Seed != nil {
		params.Seed = sdk.Int(int64(*o.Seed))
	}
	if o.Store != nil {
		params.Store = sdk.Bool(*o.Store)
	}
	if len(o.Stop) > 0 {
		params.Stop.OfStringArray = o.Stop
	}
	switch {
	case o.MaxTokens == nil:
	case c.maxTokens == fieldMaxCompletionTokens:
		params.MaxCompletionTokens = sdk.Int(int64(*o.MaxTokens))
	default:
		params.MaxTokens = sdk.Int(int64(*o.MaxTokens))
	}
}

func chatChoice(choice host.ToolChoice) (c sdk.ChatCompletionToolChoiceOptionUnionParam) {
	switch {
	case choice.Function != "":
		return sdk.ToolChoiceOptionFunctionToolChoice(sdk.ChatCompletionNamedToolChoiceFunctionParam{Name: choice.Function})
	case choice.Mode != "":
		c.OfAuto = sdk.String(choice.Mode)
	}
	return c
}

func chatFormat(f *host.ResponseFormat) (c sdk.ChatCompletionNewParamsResponseFormatUnion) {
	if len(f.Schema) == 0 {
		c.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
		return c
	}
	form := shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: f.Name, Schema: f.Schema}
	if f.Description != "" {
		form.Description = sdk.String(f.Description)
	}
	if f.Strict {
		form.Strict = sdk.Bool(true)
	}
	c.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: form}
	return c
}

// chatMessages is a message in the protocol's messages: results of tools are one each.
func chatMessages(m *message.Message) ([]sdk.ChatCompletionMessageParamUnion, error) {
	var out []sdk.ChatCompletionMessageParamUnion
	var faults []error
	var texts strings.Builder
	var parts []sdk.ChatCompletionContentPartUnionParam
	var calls []sdk.ChatCompletionMessageToolCallUnionParam
	rich, said := false, false
	for _, content := range m.Contents {
		if text, ok := plainText(content); ok {
			if m.Role == message.RoleTool {
				faults = append(faults, unsendable(m, content, "the protocol has results of functions there alone"))
			}
			texts.WriteString(text)
			parts, said = append(parts, sdk.TextContentPart(text)), true
			continue
		}
		switch content := content.(type) {
		case message.Reasoning: // neither protocol takes it back
		case message.FunctionCall:
			if m.Role != message.RoleAssistant {
				faults = append(faults, unsendable(m, content, "only an assistant calls functions"))
			}
			calls = append(calls, sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
				ID:       content.CallID,
				Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: content.Name, Arguments: argumentsText(content)},
			}})
		case message.FunctionResult:
			if m.Role != message.RoleTool && m.Role != message.RoleUser {
				faults = append(faults, unsendable(m, content, "results stand in tool messages"))
			}
			out = append(out, sdk.ToolMessage(resultText(content), content.CallID))
		case message.URI:
			part, err := chatPart(m, content)
			faults = append(faults, err)
			parts, rich = append(parts, part), true
		default:
			faults = append(faults, unsendable(m, content, "the protocol has nothing for it"))
		}
	}
	name := authorName(m)
	switch m.Role {
	case message.RoleUser:
		user := sdk.UserMessage(texts.String())
		if rich {
			user = sdk.UserMessage(parts)
		}
		if name != "" {
			user.OfUser.Name = sdk.String(name)
		}
		if said || rich {
			out = append(out, user)
		}
	case message.RoleSystem:
		system := sdk.SystemMessage(texts.String())
		if name != "" {
			system.OfSystem.Name = sdk.String(name)
		}
		if said {
			out = append(out, system)
		}
	case message.RoleAssistant:
		assistant := sdk.ChatCompletionAssistantMessageParam{ToolCalls: calls}
		if said {
			assistant.Content.OfString = sdk.String(texts.String())
		}
		if name != "" {
			assistant.Name = sdk.String(name)
		}
		if said || len(calls) > 0 {
			out = append(out, sdk.ChatCompletionMessageParamUnion{OfAssistant: &assistant})
		}
	case message.RoleTool:
	default:
		faults = append(faults, fmt.Errorf("role %q is none of the protocol", m.Role))
	}
	return out, errors.Join(faults...)
}

// chatPart is a URI as a part of a user message.
func chatPart(m *message.Message, u message.URI) (part sdk.ChatCompletionContentPartUnionParam, err error) {
	if m.Role != message.RoleUser {
		return part, unsendable(m, u, "images and files may stand in user messages only")
	}
	a, err := attach(u)
	switch {
	case err != nil:
		return part, err
	case a.isImage():
		return sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{URL: a.url}), nil
	case a.data == "":
		return part, unsendable(m, u, "chat completions fetch images alone; give other files as data: URIs")
	case !a.isAudio():
		return sdk.FileContentPart(sdk.ChatCompletionContentPartFileFileParam{
			FileData: sdk.String(a.url), Filename: sdk.String(a.filename()),
		}), nil
	case a.audioFormat() == "":
		return part, unsendable(m, u, "audio is WAV (audio/wav) or MP3 (audio/mpeg)")
	}
	return sdk.InputAudioContentPart(sdk.ChatCompletionContentPartInputAudioInputAudioParam{Data: a.data, Format: a.audioFormat()}), nil
}
