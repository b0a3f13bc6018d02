package wasm

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-run/weft/abi"
)

// readInput reads what a plugin gave to a host function. What is beyond the limit on input is not looked at.
func readInput[T any](c *call, function string, input []byte, decode func([]byte) (*T, int, error)) (*T, error) {
	if limit := c.version.limits.Input; beyond(int64(len(input)), limit) {
		return nil, limitReached("%s: its input has %d bytes, more than the %d that it may have: give less, or raise limits.input",
			function, len(input), limit)
	}
	in, unknown, err := decode(input)
	if err != nil {
		return nil, invalidInput(function, err)
	}
	c.version.unknown.Add(int64(unknown))
	return in, nil
}

// newAnswer begins what a host function returns.
func newAnswer() *view { return &view{b: []byte{'{'}} }

// either adds a boolean, whichever it is.
func (v *view) either(name string, b bool) {
	v.key(name)
	v.b = strconv.AppendBool(v.b, b)
}

// answer is what a host function returns. It is input of the plugin, and as large at most.
func (c *call) answer(function string, out *view) ([]byte, error) {
	b, err := out.done()
	if err != nil {
		return nil, unwritable(function, err)
	}
	if err := c.checkAnswer(function, b); err != nil {
		return nil, err
	}
	return b, nil
}

func (c *call) checkAnswer(function string, b []byte) error {
	if limit := c.version.limits.Input; beyond(int64(len(b)), limit) {
		return limitReached("%s: what it would return has more than the %d bytes that it may have: ask for less at once, or raise limits.input",
			function, limit)
	}
	return nil
}

func unwritable(function string, err error) *abi.Error {
	return &abi.Error{Code: abi.CodeInternal, Message: fmt.Sprintf("%s: what it would return cannot be written as JSON: %v", function, err)}
}

func limitReached(format string, args ...any) *abi.Error {
	return &abi.Error{Code: abi.CodeLimit, Message: fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) *abi.Error {
	return &abi.Error{Code: abi.CodeNotFound, Message: fmt.Sprintf(format, args...)}
}

// unavailable is the error of a service behind a host function. What is wrong with it is the operator's to know: its text may
// name files, hosts and keys.
func (c *call) unavailable(ctx context.Context, function, what string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.version.log.LogAttrs(ctx, slog.LevelWarn, "a host function failed", slog.String("plugin", c.version.sourceID),
		slog.String("hook", string(c.hook)), slog.String("function", function), slog.Any("error", err))
	return &abi.Error{Code: abi.CodeUnavailable, Message: fmt.Sprintf("%s: %s failed; the host's log says why", function, what)}
}

// listed is a line of a grant: the words that it lists, and one more.
func listed(name string, have []string, more string) string {
	words := slices.Clone(have)
	if !slices.Contains(words, more) {
		words = append(words, more)
	}
	for i, word := range words {
		if strings.ContainsAny(word, ":*") {
			words[i] = `"` + word + `"`
		}
	}
	return fmt.Sprintf("%s: [%s]", name, strings.Join(words, ", "))
}
