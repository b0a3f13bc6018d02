package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host/wasm/engine"
)

// hostFunction answers one call of a host function (clauses HF-1 to HF-15). Input is JSON of a stranger. What it returns is
// a whole JSON object; an *abi.Error goes to the plugin as data, any other error ends the plugin.
type hostFunction func(ctx context.Context, c *call, input []byte) ([]byte, error)

// hostFunctions are all there are, by name. A plugin that imports another one does not load.
var hostFunctions = map[string]hostFunction{
	"call_next":    callNext,
	"get_messages": getMessages,
	"kv_get":       kvGet,
	"kv_set":       kvSet,
	"kv_delete":    kvDelete,
	"kv_list":      kvList,
	"complete":     complete,
	"embed":        embed,
	"search":       search,
	"index_put":    indexPut,
	"index_delete": indexDelete,
	"emit":         emit,
	"request":      request,
}

// functions are the host functions as the engine calls them.
func functions() map[string]engine.Function {
	all := make(map[string]engine.Function, len(hostFunctions))
	for name, f := range hostFunctions {
		all[name] = func(ctx context.Context, input []byte) ([]byte, error) {
			c, err := callOf(ctx)
			var output []byte
			if err == nil {
				output, err = f(ctx, c, input)
			}
			if failure, ok := errors.AsType[*abi.Error](err); ok {
				return json.Marshal(map[string]*abi.Error{"error": failure})
			}
			return output, err
		}
	}
	return all
}

// callNext runs the rest of the chain (clause PRO-1).
func callNext(ctx context.Context, c *call, input []byte) ([]byte, error) {
	if c.next == nil {
		return nil, &abi.Error{Code: abi.CodeDenied, Message: fmt.Sprintf("call_next belongs to process, and this is %s", c.hook)}
	}
	if limit := c.version.limits.Input; beyond(int64(len(input)), limit) {
		return nil, limitReached("call_next: its input has %d bytes, more than the %d that it may have: give less, or raise limits.input",
			len(input), limit)
	}
	if c.nexts++; beyond(c.nexts, c.version.limits.NextCalls) {
		return nil, &abi.Error{
			Code:    abi.CodeLimit,
			Message: fmt.Sprintf("call_next was called more than %d times: raise limits.next_calls", c.version.limits.NextCalls),
		}
	}
	var out *view
	err := c.outside(func() (err error) {
		out, err = c.next(ctx, input)
		return err
	})
	if err != nil {
		if _, data := errors.AsType[*abi.Error](err); !data {
			c.passed = err
		}
		return nil, err
	}
	return out.done()
}

// invalidInput is what a host function answers to input that is not what it takes.
func invalidInput(function string, err error) *abi.Error {
	return &abi.Error{Code: abi.CodeInvalidInput, Message: function + ": " + err.Error()}
}

// denied is what a host function answers where the right is missing.
func denied(function, grant string) *abi.Error {
	return &abi.Error{
		Code:    abi.CodeDenied,
		Message: fmt.Sprintf("%s is not granted to this plugin: if it should be, add to its entry grant: {%s}", function, grant),
	}
}
