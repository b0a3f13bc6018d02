package wasm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
)

// defaultAnswer is how many tokens an answer may have where neither the plugin nor the client says.
const defaultAnswer = 4096

// complete asks the host's model (clause HF-9).
func complete(ctx context.Context, c *call, input []byte) ([]byte, error) {
	const name = "complete"
	v := c.version
	if err := asks(name, v.grants.Complete); err != nil {
		return nil, err
	}
	in, err := readInput(c, name, input, abi.DecodeComplete)
	if err != nil {
		return nil, err
	}
	given := tokensIn(len(in.Instructions)) + tokensOf(in.Messages)
	b, left, err := c.spend(ctx, name, v.grants.Complete, given)
	if err != nil {
		return nil, err
	}
	response, err := v.services.Model.Complete(ctx, v.completeRequest(in, left))
	if err == nil && (response == nil || slices.Contains(response.Messages, nil)) {
		err = &host.ModelError{Kind: host.ErrBadReply, Err: errors.New("the client returned no response, or one with a nil message")}
	}
	if err != nil {
		b.used(given)
		return nil, c.modelError(ctx, name, err)
	}
	if u := response.Usage; u != nil {
		b.used(u.InputTokens + u.OutputTokens)
	} else {
		b.used(given + tokensOf(response.Messages))
	}
	out := newAnswer()
	out.response(&abi.Grants{Read: []string{"response"}}, &host.Response{
		Messages: response.Messages, FinishReason: response.FinishReason, Usage: response.Usage,
	})
	return c.answer(name, out)
}

// completeRequest is what the model is asked: by the plugin alone, and for no more than it may spend.
func (v *version) completeRequest(in *abi.Complete, left int) *host.ChatRequest {
	var options host.Options
	if d, ok := v.services.Model.(host.OptionDefaults); ok {
		options = d.DefaultOptions()
	}
	o := in.Options
	options = options.With(host.Options{
		Temperature: o.Temperature, TopP: o.TopP, MaxTokens: o.MaxTokens, Seed: o.Seed, Stop: o.Stop,
	}).Clone()
	if f := o.ResponseFormat; f != nil {
		options.ResponseFormat = &host.ResponseFormat{Name: f.Name, Description: f.Description, Schema: f.Schema, Strict: f.Strict}
	}
	if options.MaxTokens == nil {
		options.MaxTokens = new(defaultAnswer)
	}
	options.MaxTokens = new(min(*options.MaxTokens, left))
	options.Store = new(false) // it belongs to no conversation
	options.ConversationID, options.ToolChoice = "", host.ToolChoice{}
	instructions := strings.Trim(in.Instructions+"\n"+options.Instructions, "\n")
	options.Instructions = ""
	v.stamp(in.Messages)
	return &host.ChatRequest{Messages: in.Messages, Instructions: instructions, Options: options}
}

// embed has the host's model make vectors of texts (clause HF-10).
func embed(ctx context.Context, c *call, input []byte) ([]byte, error) {
	const name = "embed"
	v := c.version
	if err := asks(name, v.grants.Embed); err != nil {
		return nil, err
	}
	in, err := readInput(c, name, input, abi.DecodeEmbed)
	if err != nil {
		return nil, err
	}
	size := 0
	for _, text := range in.Texts {
		size += len(text)
	}
	given := tokensIn(size)
	b, _, err := c.spend(ctx, name, v.grants.Embed, given)
	if err != nil {
		return nil, err
	}
	response, err := v.services.Embedder.Embed(ctx, &host.EmbedRequest{Texts: in.Texts})
	if err == nil {
		err = checkVectors(response, len(in.Texts))
	}
	if err != nil {
		b.used(given)
		return nil, c.modelError(ctx, name, err)
	}
	if u := response.Usage; u != nil {
		given = u.InputTokens + u.OutputTokens
	}
	b.used(given)
	out := newAnswer()
	out.key("vectors")
	out.b = append(out.b, '[')
	for i, vector := range response.Vectors {
		if i > 0 {
			out.b = append(out.b, ',')
		}
		out.vector(vector)
		if err := c.checkAnswer(name, out.b); err != nil {
			return nil, err
		}
	}
	out.b = append(out.b, ']')
	return c.answer(name, out)
}

// checkVectors refuses what an embedder returned and JSON cannot say, or that is not one vector for each text.
func checkVectors(r *host.EmbedResponse, texts int) error {
	if r == nil || len(r.Vectors) != texts {
		return &host.ModelError{Kind: host.ErrBadReply, Err: errors.New("the embedder returned more or fewer vectors than there are texts")}
	}
	for _, vector := range r.Vectors {
		for _, f := range vector {
			if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
				return &host.ModelError{Kind: host.ErrBadReply, Err: errors.New("the embedder returned a vector with a number that is none")}
			}
		}
	}
	return nil
}

func (v *view) vector(vector []float32) {
	v.b = append(v.b, '[')
	for i, f := range vector {
		if i > 0 {
			v.b = append(v.b, ',')
		}
		v.b = strconv.AppendFloat(v.b, float64(f), 'g', -1, 32)
	}
	v.b = append(v.b, ']')
}

// modelError is what a plugin gets to know of a model that failed: of what kind it is. What the service said may hold what is
// not the plugin's to know, and goes into the log.
func (c *call) modelError(ctx context.Context, function string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.version.log.LogAttrs(ctx, slog.LevelWarn, "the model failed for a plugin", slog.String("plugin", c.version.sourceID),
		slog.String("hook", string(c.hook)), slog.String("function", function), slog.Any("error", err))
	text := "the model failed; the host's log says why"
	if m, ok := errors.AsType[*host.ModelError](err); ok {
		if m.Kind != nil {
			text = kindOf(m)
		}
		if m.Status != 0 {
			text += fmt.Sprintf(" (%d %s)", m.Status, http.StatusText(m.Status))
		}
		if m.RetryAfter > 0 {
			text += ": try again after " + m.RetryAfter.Round(time.Second).String()
		}
	}
	return &abi.Error{Code: abi.CodeModel, Message: function + ": " + text}
}

// modelFaults are what a model fails of, in words that are the host's own.
var modelFaults = []error{
	host.ErrRateLimited, host.ErrUnavailable, host.ErrAuthentication, host.ErrNotFound, host.ErrInvalidRequest,
	host.ErrContextLength, host.ErrContentFilter, host.ErrBadReply, host.ErrTimeout,
}

func kindOf(m *host.ModelError) string {
	for _, known := range modelFaults {
		if errors.Is(m.Kind, known) {
			return known.Error()
		}
	}
	return "the model failed; the host's log says why"
}
