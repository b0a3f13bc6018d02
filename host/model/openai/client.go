package openai

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/url"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/weft-run/weft/host"
)

// Client calls models of one endpoint. It keeps nothing of a conversation and may be used by many goroutines.
type Client struct {
	model    string
	api      API
	base     *url.URL
	options  host.Options
	protocol protocol
	secrets  secrets
	maxBytes int64
	own      *http.Transport // nil where the config gave a client

	embedder       sdk.EmbeddingService
	embeddingModel string
}

var (
	_ host.ChatClient     = (*Client)(nil)
	_ host.HistoryKeeper  = (*Client)(nil)
	_ host.OptionDefaults = (*Client)(nil)
	_ host.Embedder       = (*Client)(nil)
)

// protocol is what the two APIs differ in.
type protocol interface {
	// post sends a request. The body of the response is the caller's to close.
	post(ctx context.Context, request *host.ChatRequest, stream bool) (*http.Response, error)
	// reply reads an answer that was not streamed, as the updates that it would have been.
	reply(body []byte, call call) ([]*host.Update, error)
	// events reads a streamed one.
	events(call call) events
}

// events reads the events of one stream.
type events interface {
	// event reads one; last says that nothing follows.
	event(name string, data []byte) (updates []*host.Update, last bool, err error)
	// end is called when the stream is over; said is whether it said so itself.
	end(said bool) ([]*host.Update, error)
}

// call is what reading an answer needs to know of the request.
type call struct {
	conversation string // a conversation of the service that the request went to
	stored       bool   // the service was not told to forget
}

// New returns a client, or all that is wrong with the config. It sends nothing.
func New(c Config) (*Client, error) {
	c = c.withDefaults()
	base, err := c.check()
	if err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	client := &Client{
		model: c.Model, api: c.API, base: base, options: c.Options.Clone(),
		secrets: newSecrets(c), maxBytes: c.MaxResponseBytes, embeddingModel: c.EmbeddingModel,
	}
	httpClient := http.Client{}
	if c.HTTPClient != nil {
		httpClient = *c.HTTPClient
	} else {
		client.own = transport()
		httpClient.Transport = client.own
	}
	httpClient.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

	// The services are made one by one, as the SDK's NewClient reads the environment.
	options := []option.RequestOption{
		option.WithHTTPClient(&httpClient), option.WithBaseURL(base.String()), option.WithAPIKey(c.APIKey),
		option.WithMaxRetries(0), option.WithMiddleware(client.answer),
	}
	if c.Organization != "" {
		options = append(options, option.WithOrganization(c.Organization))
	}
	if c.Project != "" {
		options = append(options, option.WithProject(c.Project))
	}
	for name, values := range c.Headers {
		options = append(options, option.WithHeaderDel(name))
		for _, v := range values {
			options = append(options, option.WithHeaderAdd(name, v))
		}
	}
	client.embedder = sdk.NewEmbeddingService(options...)
	if c.API == Responses {
		client.protocol = newResponses(options)
	} else {
		client.protocol = newChat(options, c.maxTokensField(base), !c.NoStreamUsage)
	}
	return client, nil
}

// Complete returns the model's whole answer.
func (c *Client) Complete(ctx context.Context, request *host.ChatRequest) (*host.Response, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	full := c.withOwn(request)
	response, err := c.send(ctx, full, false)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	updates, err := c.whole(ctx, response, callOf(full))
	if err != nil {
		return nil, err
	}
	return sum(updates), nil
}

// whole reads an answer that is not streamed.
func (c *Client) whole(ctx context.Context, response *http.Response, call call) ([]*host.Update, error) {
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, c.cut(ctx, err)
	}
	updates, err := c.protocol.reply(body, call)
	if err != nil {
		return nil, c.faulty(response, err)
	}
	return updates, nil
}

// Stream yields the answer as it comes: text and reasoning at once, then all calls in one update, then one with the finish
// reason, the usage and the conversation id. Leaving it, or ending ctx, closes the connection.
func (c *Client) Stream(ctx context.Context, request *host.ChatRequest) iter.Seq2[*host.Update, error] {
	return func(yield func(*host.Update, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		full := c.withOwn(request)
		response, err := c.send(ctx, full, true)
		if err != nil {
			yield(nil, err)
			return
		}
		defer func() { _ = response.Body.Close() }()
		for u, err := range c.updates(ctx, response, callOf(full)) {
			if !yield(u, err) {
				return
			}
		}
	}
}

// updates reads an answer in pieces, or as a whole from a server that does not stream.
func (c *Client) updates(ctx context.Context, response *http.Response, call call) iter.Seq2[*host.Update, error] {
	return func(yield func(*host.Update, error) bool) {
		// hand gives updates to the consumer, and says whether to go on.
		hand := func(updates []*host.Update, err error) bool {
			if err != nil {
				yield(nil, err)
				return false
			}
			for _, u := range updates {
				if !yield(u, nil) {
					return false
				}
				if ctx.Err() != nil {
					yield(nil, c.cut(ctx, nil))
					return false
				}
			}
			return true
		}
		if mediaType(response) == "application/json" {
			hand(c.whole(ctx, response, call))
			return
		}
		events, decoder, said := c.protocol.events(call), ssestream.NewDecoder(response), false
		for !said && decoder.Next() {
			event := decoder.Event()
			if said = isDone(event.Data); said {
				break
			}
			updates, last, err := events.event(event.Type, event.Data)
			if err != nil {
				err = c.faulty(response, err)
			}
			if !hand(updates, err) {
				return
			}
			said = last
		}
		if err := cmp.Or(decoder.Err(), ctx.Err()); err != nil {
			yield(nil, c.cut(ctx, err))
			return
		}
		updates, err := events.end(said)
		if err != nil {
			err = c.faulty(response, err)
		}
		hand(updates, err)
	}
}

// withOwn is the request with the client's own options under its options. An agent did that already; a caller without one
// gets the same.
func (c *Client) withOwn(request *host.ChatRequest) *host.ChatRequest {
	full := host.ChatRequest{}
	if request != nil {
		full = *request
	}
	full.Options = c.options.With(full.Options)
	if full.Options.Model == "" {
		full.Options.Model = c.model
	}
	return &full
}

// StoresHistory reports whether the service keeps conversations where a call does not say: with [Responses], unless the
// client's own option store is false.
func (c *Client) StoresHistory() bool {
	return c.api == Responses && (c.options.Store == nil || *c.options.Store)
}

// DefaultOptions are the options of the config.
func (c *Client) DefaultOptions() host.Options { return c.options.Clone() }

// Close closes the idle connections that the client made by itself. It does not touch those of a given HTTP client, ends no
// call, and the client may be used after it.
func (c *Client) Close() error {
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
	return nil
}

// String names the endpoint and the model.
func (c Client) String() string {
	return fmt.Sprintf("openai.Client{Model:%q BaseURL:%q API:%q}", c.model, c.base, c.api)
}

// Format prints the client without its secrets, whatever the verb.
func (c Client) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(c.String())) }

// LogValue logs the client without its secrets.
func (c Client) LogValue() slog.Value { return slog.StringValue(c.String()) }
