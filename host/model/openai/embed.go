package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/weft-run/weft/host"
)

// maxTexts is how many texts the service takes in one request.
const maxTexts = 2048

// Embed returns the vectors of the request's texts, by the model that the request names, else [Config.EmbeddingModel]. More
// than 2048 texts go in several requests, one after the other. A text that is empty or no valid UTF-8, which no service
// takes, is refused before anything is sent.
func (c *Client) Embed(ctx context.Context, request *host.EmbedRequest) (*host.EmbedResponse, error) {
	if request == nil || len(request.Texts) == 0 {
		return &host.EmbedResponse{}, ctx.Err()
	}
	model := cmp.Or(request.Model, c.embeddingModel)
	if err := checkTexts(model, request.Texts); err != nil {
		return nil, &host.ModelError{Kind: host.ErrInvalidRequest, Err: c.secrets.hide("nothing was sent to "+c.base.Host, err)}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := &host.EmbedResponse{Vectors: make([][]float32, 0, len(request.Texts))}
	for texts := range slices.Chunk(request.Texts, maxTexts) {
		if err := c.embed(ctx, model, texts, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// checkTexts reports all that cannot be sent.
func checkTexts(model string, texts []string) error {
	var faults []error
	if model == "" {
		faults = append(faults, errors.New("no model is named: set EmbeddingModel in the config, or Model in the request"))
	}
	for i, text := range texts {
		switch {
		case text == "":
			faults = append(faults, fmt.Errorf("texts/%d is empty", i))
		case !utf8.ValidString(text):
			faults = append(faults, fmt.Errorf("texts/%d is not valid UTF-8", i))
		}
	}
	return errors.Join(faults...)
}

// embed makes one request, and puts what comes back behind what there is.
func (c *Client) embed(ctx context.Context, model string, texts []string, out *host.EmbedResponse) error {
	params := sdk.EmbeddingNewParams{
		Model: model, Input: sdk.EmbeddingNewParamsInputUnion{OfArrayOfStrings: texts},
		EncodingFormat: sdk.EmbeddingNewParamsEncodingFormatFloat,
	}
	response, err := c.sent(ctx, func() (response *http.Response, err error) {
		_, err = c.embedder.New(ctx, params, option.WithResponseBodyInto(&response))
		return response, err
	})
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return c.cut(ctx, err)
	}
	reply, err := readEmbeddings(body, len(texts))
	if err == nil && len(out.Vectors) > 0 && len(out.Vectors[0]) != len(reply.vectors[0]) {
		err = fmt.Errorf("its vectors have %d numbers, and those of the request before had %d", len(reply.vectors[0]), len(out.Vectors[0]))
	}
	if err != nil {
		return c.faulty(response, err)
	}
	out.Vectors = append(out.Vectors, reply.vectors...)
	out.Model = cmp.Or(reply.Model, out.Model, model)
	if u := reply.Usage; u != nil {
		if out.Usage == nil {
			out.Usage = &host.Usage{}
		}
		out.Usage.InputTokens += max(0, u.PromptTokens)
	}
	return nil
}

// embeddings is an answer of the endpoint.
type embeddings struct {
	Data []struct {
		Index     *int      `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
	Model string         `json:"model"`
	Error jsontext.Value `json:"error"`
	Usage *struct {
		PromptTokens int `json:"prompt_tokens"`
	} `json:"usage"`

	vectors [][]float32 // in the order of the texts
}

// readEmbeddings reads an answer that is to have a number of vectors.
func readEmbeddings(body []byte, texts int) (*embeddings, error) {
	var reply embeddings
	if err := json.Unmarshal(body, &reply); err != nil {
		return nil, err
	}
	if err := asInReply(reply.Error); err != nil {
		return nil, err
	}
	if len(reply.Data) != texts {
		return nil, fmt.Errorf("it has %d vectors for %d texts", len(reply.Data), texts)
	}
	reply.vectors = make([][]float32, texts)
	for i, d := range reply.Data {
		at := i // some servers write no index
		if d.Index != nil {
			at = *d.Index
		}
		if (d.Index == nil) != (reply.Data[0].Index == nil) {
			return nil, fmt.Errorf("data/%d: some of its vectors have an index and some have none", i)
		}
		if at < 0 || at >= texts || reply.vectors[at] != nil {
			return nil, fmt.Errorf("data/%d: the index %d stands there twice, or is none of %d texts", i, at, texts)
		}
		if err := checkVector(d.Embedding, len(reply.Data[0].Embedding)); err != nil {
			return nil, fmt.Errorf("data/%d: %w", i, err)
		}
		reply.vectors[at] = d.Embedding
	}
	return &reply, nil
}

// checkVector holds a vector against the length of the first one.
func checkVector(v []float32, length int) error {
	if len(v) == 0 || len(v) != length {
		return fmt.Errorf("its vector has %d numbers, and the first one has %d: all must have the same, and more than none", len(v), length)
	}
	for i, x := range v {
		if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("embedding/%d is %v, and no number that can be compared", i, x)
		}
	}
	return nil
}
