package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
)

// serviceError is an error as the service writes it. Services differ in all but the message.
type serviceError struct {
	Message string         `json:"message"`
	Type    string         `json:"type"`
	Code    jsontext.Value `json:"code"` // a string, a number or null
	Param   jsontext.Value `json:"param"`
}

// code is the code as text.
func (e serviceError) code() string { return textOf(e.Code) }

// kind finds out what is wrong: by the code, and by the status where that says nothing; 0 is an error in a stream.
func (e serviceError) kind(status int) error {
	code, message := e.code(), strings.ToLower(e.Message)
	if n, err := strconv.Atoi(code); err == nil && status < 400 && n >= 400 && n < 600 {
		status = n // some gateways write the status of those behind them
	}
	has := func(words ...string) bool {
		for _, w := range words {
			if code == w || e.Type == w {
				return true
			}
		}
		return false
	}
	switch {
	case has("context_length_exceeded", "exceed_context_size_error"), status == http.StatusBadRequest && strings.Contains(message, "maximum context length"):
		return host.ErrContextLength
	case has("content_filter", "content_policy_violation"):
		return host.ErrContentFilter
	case status == http.StatusUnauthorized, status == http.StatusForbidden, has("invalid_api_key"):
		return host.ErrAuthentication
	case status == http.StatusNotFound, has("model_not_found"):
		return host.ErrNotFound
	case status == http.StatusTooManyRequests, has("rate_limit_exceeded", "rate_limit_error", "insufficient_quota"):
		return host.ErrRateLimited
	case status == http.StatusRequestTimeout, status >= 500:
		return host.ErrUnavailable
	case status >= 400, has("invalid_request_error", "invalid_prompt"):
		return host.ErrInvalidRequest
	}
	return host.ErrUnavailable
}

// text is what the service said, with its code.
func (e serviceError) text() string {
	said := e.Message
	if note := cmp.Or(e.code(), e.Type); note != "" {
		said = strings.TrimSpace(said + " (" + note + ")")
	}
	return said
}

// refused is an answer without success.
func (c *Client) refused(response *http.Response, body []byte) error {
	status := response.StatusCode
	if status < 400 {
		where := ""
		if at, err := response.Location(); err == nil {
			where = " to " + at.Scheme + "://" + at.Host
		}
		return c.bad(status, fmt.Errorf("redirects%s, which is not followed: set the base URL to where the service is", where))
	}
	e, ok := readError(body)
	said := e.text()
	if !ok {
		said = strings.TrimSpace(string(body))
	}
	if said == "" {
		said = "no more was said"
	}
	return &host.ModelError{
		Kind: e.kind(status), Status: status, RetryAfter: retryAfter(response.Header, time.Now()),
		Err: c.secrets.hide("", fmt.Errorf("%s answered %d %s: %s", c.base.Host, status, http.StatusText(status), said)),
	}
}

// readError finds the error in an answer: an object under "error", or with a message itself, or a text.
func readError(body []byte) (serviceError, bool) {
	var outer struct {
		Error jsontext.Value `json:"error"`
		serviceError
	}
	if json.Unmarshal(body, &outer) != nil {
		return serviceError{}, false
	}
	switch outer.Error.Kind() {
	case '{':
		var e serviceError
		return e, json.Unmarshal(outer.Error, &e) == nil
	case '"':
		return serviceError{Message: textOf(outer.Error)}, true
	}
	return outer.serviceError, outer.Message != ""
}

// inReply is an error that stands in an answer of success, or in a stream.
type inReply struct{ serviceError }

func (e inReply) Error() string { return "reported an error in its answer: " + e.text() }

// asInReply reads the value of a member "error", which some services write as null where there is none.
func asInReply(value jsontext.Value) error {
	switch value.Kind() {
	case '{':
		var e serviceError
		if err := json.Unmarshal(value, &e); err != nil {
			return fmt.Errorf("error: %w", err)
		}
		return inReply{e}
	case '"':
		return inReply{serviceError{Message: textOf(value)}}
	case 0, 'n', 'f':
		return nil
	}
	return inReply{serviceError{Message: string(value)}}
}

// faulty is an error of reading an answer: one that the service reports in it, or of its form.
func (c *Client) faulty(response *http.Response, err error) error {
	if reported, ok := errors.AsType[inReply](err); ok {
		return &host.ModelError{Kind: reported.kind(0), Err: c.secrets.hide(c.base.Host, err)}
	}
	err = fmt.Errorf("the answer cannot be read: %w", err)
	if media := response.Header.Get("Content-Type"); media != "" {
		err = fmt.Errorf("%w (its content type is %q)", err, media)
	}
	return c.bad(response.StatusCode, err)
}

// cut is the error of a call that ended on the way: that of its context, or a body that broke off.
func (c *Client) cut(ctx context.Context, err error) error {
	switch over := ctx.Err(); {
	case errors.Is(over, context.DeadlineExceeded):
		return &host.ModelError{Kind: host.ErrTimeout, Err: fmt.Errorf("%s took longer than it was given: %w", c.base.Host, over)}
	case over != nil:
		return over
	case errors.Is(err, errTooLong):
		return c.bad(0, err)
	}
	return c.bad(0, fmt.Errorf("the answer broke off: %w", err))
}

// bad is an answer that is none of the protocol.
func (c *Client) bad(status int, err error) error {
	return &host.ModelError{Kind: host.ErrBadReply, Status: status, Err: c.secrets.hide(c.base.Host, err)}
}

// retryAfter is how long the service asks to wait: in milliseconds, in seconds, or until a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	for _, unit := range []struct {
		name string
		of   time.Duration
	}{{"Retry-After-Ms", time.Millisecond}, {"Retry-After", time.Second}} {
		if n, err := strconv.ParseFloat(strings.TrimSpace(h.Get(unit.name)), 64); err == nil && n >= 0 {
			return time.Duration(min(n*float64(unit.of), math.MaxInt64/2))
		}
	}
	if at, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// textOf is a JSON value as text: a string's content, nothing for null, and the JSON of anything else.
func textOf(v jsontext.Value) string {
	switch v.Kind() {
	case '"':
		if s, err := jsontext.AppendUnquote(nil, v); err == nil {
			return string(s)
		}
	case 'n':
		return ""
	}
	return string(v)
}
