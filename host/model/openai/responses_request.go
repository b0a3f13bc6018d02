package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// conversationPrefix begins the ids of conversations; other ids are those of responses.
const conversationPrefix = "conv_"

// responding is the protocol of responses.
type responding struct{ service responses.ResponseService }

var _ protocol = (*responding)(nil)

func newResponses(options []option.RequestOption) *responding {
	return &responding{service: responses.NewResponseService(options...)}
}

// responsesReserved are the names of a request that are not for [host.Options.Extra].
var responsesReserved = []string{
	"input", "model", "stream", "instructions", "previous_response_id", "conversation", "tools", "tool_choice", "text",
	"temperature", "top_p", "max_output_tokens", fieldMaxTokens, fieldMaxCompletionTokens, "store", "background", "messages",
}

func (p *responding) post(ctx context.Context, request *host.ChatRequest, stream bool) (*http.Response, error) {
	params, err := p.params(request)
	if err != nil {
		return nil, err
	}
	var response *http.Response
	options := []option.RequestOption{option.WithResponseBodyInto(&response)}
	if stream {
		options = append(options, option.WithHeader("Accept", eventStream), option.WithJSONSet("stream", true))
	}
	_, err = p.service.New(ctx, params, options...)
	return response, err
}

// params is the request in the SDK's types, or all that cannot be sent.
func (p *responding) params(request *host.ChatRequest) (responses.ResponseNewParams, error) {
	o := request.Options
	params := responses.ResponseNewParams{Model: o.Model}
	var faults []error
	if request.Instructions != "" {
		params.Instructions = sdk.String(request.Instructions)
	}
	switch id := request.ConversationID; {
	case strings.HasPrefix(id, conversationPrefix):
		params.Conversation.OfString = sdk.String(id)
	case id != "":
		params.PreviousResponseID = sdk.String(id)
	}
	params.Input.OfInputItemList = responses.ResponseInputParam{}
	for i, m := range request.Messages {
		items, err := inputItems(m)
		faults = append(faults, inMessage(i, err))
		params.Input.OfInputItemList = append(params.Input.OfInputItemList, items...)
	}
	for _, t := range request.Tools {
		definition := t.Definition()
		schema, err := parameters(definition)
		faults = append(faults, err)
		// The protocol's own default is strict, which only takes a part of JSON Schema.
		function := responses.FunctionToolParam{Name: definition.Name, Parameters: schema, Strict: sdk.Bool(false)}
		if definition.Description != "" {
			function.Description = sdk.String(definition.Description)
		}
		params.Tools = append(params.Tools, responses.ToolUnionParam{OfFunction: &function})
	}
	if len(request.Tools) > 0 {
		params.ToolChoice = responsesChoice(o.ToolChoice)
	}
	faults = append(faults, checkChoice(o.ToolChoice, request.Tools), checkFormat(o.ResponseFormat))
	if f := o.ResponseFormat; f != nil {
		var err error
		params.Text.Format, err = responsesFormat(f)
		faults = append(faults, err)
	}
	faults = append(faults, setResponses(&params, o))
	more, err := extra(o, responsesReserved)
	if len(more) > 0 {
		params.SetExtraFields(more)
	}
	return params, errors.Join(append(faults, err)...)
}

// setResponses sets the options that are values. Those that the protocol does not have are an error.
func setResponses(params *responses.ResponseNewParams, o host.Options) error {
	if o.Temperature != nil {
		params.Temperature = sdk.Float(*o.Temperature)
	}
	if o.TopP != nil {
		params.TopP = sdk.Float(*o.TopP)
	}
	if o.MaxTokens != nil {
		params.MaxOutputTokens = sdk.Int(int64(*o.MaxTokens))
	}
	if o.Store != nil {
		params.Store = sdk.Bool(*o.Store)
	}
	var faults []error
	if o.Seed != nil {
		faults = append(faults, fmt.Errorf("option seed: the API %q has none; unset it or use %q", Responses, ChatCompletions))
	}
	if len(o.Stop) > 0 {
		faults = append(faults, fmt.Errorf("option stop: the API %q has none; unset it or use %q", Responses, ChatCompletions))
	}
	return errors.Join(faults...)
}

func responsesChoice(choice host.ToolChoice) (c responses.ResponseNewParamsToolChoiceUnion) {
	switch {
	case choice.Function != "":
		c.OfFunctionTool = &responses.ToolChoiceFunctionParam{Name: choice.Function}
	case choice.Mode != "":
		c.OfToolChoiceMode = sdk.Opt(responses.ToolChoiceOptions(choice.Mode))
	}
	return c
}

func responsesFormat(f *host.ResponseFormat) (u responses.ResponseFormatTextConfigUnionParam, err error) {
	if len(f.Schema) == 0 {
		u.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
		return u, nil
	}
	// Strict is written always: without it services take it for true.
	form := responses.ResponseFormatTextJSONSchemaConfigParam{Name: f.Name, Strict: sdk.Bool(f.Strict)}
	if form.Schema, err = members(f.Schema); err != nil {
		return u, fmt.Errorf("response_format: %w", err)
	}
	if f.Description != "" {
		form.Description = sdk.String(f.Description)
	}
	u.OfJSONSchema = &form
	return u, nil
}

// inputItems is a message in the protocol's items: calls and their results are items beside messages.
func inputItems(m *message.Message) (responses.ResponseInputParam, error) {
	var items, behind responses.ResponseInputParam
	var faults []error
	var texts strings.Builder
	var parts responses.ResponseInputMessageContentListParam
	rich, said := false, false
	for _, content := range m.Contents {
		if text, ok := plainText(content); ok {
			if m.Role == message.RoleTool {
				faults = append(faults, unsendable(m, content, "the protocol has results of functions there alone"))
			}
			texts.WriteString(text)
			parts, said = append(parts, responses.ResponseInputContentParamOfInputText(text)), true
			continue
		}
		switch content := content.(type) {
		case message.Reasoning: // goes back as an item of the service's own alone
		case message.FunctionCall:
			if m.Role != message.RoleAssistant {
				faults = append(faults, unsendable(m, content, "only an assistant calls functions"))
			}
			behind = append(behind, responses.ResponseInputItemParamOfFunctionCall(argumentsText(content), content.CallID, content.Name))
		case message.FunctionResult:
			if m.Role != message.RoleTool && m.Role != message.RoleUser {
				faults = append(faults, unsendable(m, content, "results stand in tool messages"))
			}
			items = append(items, functionOutput(content))
		case message.URI:
			part, err := inputPart(m, content)
			faults = append(faults, err)
			parts, rich = append(parts, part), true
		default:
			faults = append(faults, unsendable(m, content, "the protocol has nothing for it"))
		}
	}
	if !m.Role.Valid() {
		faults = append(faults, fmt.Errorf("role %q is none of the protocol", m.Role))
	}
	role := responses.EasyInputMessageRole(m.Role)
	switch {
	case rich:
		items = append(items, responses.ResponseInputItemParamOfMessage(parts, role))
	case said:
		items = append(items, responses.ResponseInputItemParamOfMessage(texts.String(), role))
	}
	return append(items, behind...), errors.Join(faults...)
}

func functionOutput(r message.FunctionResult) responses.ResponseInputItemUnionParam {
	item := responses.ResponseInputItemParamOfFunctionCallOutput(resultText(r))
	item.OfFunctionCallOutput.CallID = sdk.String(r.CallID)
	return item
}

// inputPart is a URI as a part of a user message.
func inputPart(m *message.Message, u message.URI) (part responses.ResponseInputContentUnionParam, err error) {
	if m.Role != message.RoleUser {
		return part, unsendable(m, u, "images and files may stand in user messages only")
	}
	a, err := attach(u)
	switch {
	case err != nil:
		return part, err
	case a.isImage():
		part = responses.ResponseInputContentParamOfInputImage(responses.ResponseInputImageDetailAuto)
		part.OfInputImage.ImageURL = sdk.String(a.url)
	case a.isAudio():
		return part, unsendable(m, u, fmt.Sprintf("the API %q takes no audio; use %q", Responses, ChatCompletions))
	case a.data == "":
		part.OfInputFile = &responses.ResponseInputFileParam{FileURL: sdk.String(a.url)}
	default:
		part.OfInputFile = &responses.ResponseInputFileParam{FileData: sdk.String(a.url), Filename: sdk.String(a.filename())}
	}
	return part, nil
}
