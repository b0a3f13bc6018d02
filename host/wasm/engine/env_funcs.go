package engine

import (
	"math"
)

// envFuncs holds the functions of extism:host/env, with the meaning that they have in Extism. They differ where Extism
// leaves things open: an access outside the arena is a trap that names the function, not a silent zero.
var envFuncs = map[string]envFunc{
	"alloc":         {types("I:I"), envAlloc},
	"free":          {types("I"), envFree},
	"length":        {types("I:I"), envLength},
	"length_unsafe": {types("I:I"), envLength},
	"load_u8":       {types("I:i"), envLoadU8},
	"load_u64":      {types("I:I"), envLoadU64},
	"store_u8":      {types("Ii"), envStoreU8},
	"store_u64":     {types("II"), envStoreU64},

	"input_offset":   {types(":I"), envInputOffset},
	"input_length":   {types(":I"), envInputLength},
	"input_load_u8":  {types("I:i"), envInputLoadU8},
	"input_load_u64": {types("I:I"), envInputLoadU64},
	"output_set":     {types("II"), envOutputSet},
	"error_set":      {types("I"), envErrorSet},
	"error_get":      {types(":I"), envErrorGet},

	"config_get": {types("I:I"), envConfigGet},
	"var_get":    {types("I:I"), envVarGet},
	"var_set":    {types("II"), envVarSet},

	"http_request":     {types("II:I"), envHTTPRequest},
	"http_status_code": {types(":i"), envZero},
	"http_headers":     {types(":I"), envZero},

	"log_trace":     {types("I"), envLog(levelTrace)},
	"log_debug":     {types("I"), envLog(levelDebug)},
	"log_info":      {types("I"), envLog(levelInfo)},
	"log_warn":      {types("I"), envLog(levelWarn)},
	"log_error":     {types("I"), envLog(levelError)},
	"get_log_level": {types(":i"), envGetLogLevel},
}

func envAlloc(i *instance, stack []uint64) error {
	stack[0] = i.arena.alloc(stack[0])
	return nil
}

func envFree(i *instance, stack []uint64) error {
	i.arena.release(stack[0])
	return nil
}

func envLength(i *instance, stack []uint64) error {
	stack[0] = i.arena.length(stack[0])
	return nil
}

func envLoadU8(i *instance, stack []uint64) error {
	b, ok := i.arena.slice(stack[0], 1)
	if !ok {
		return outside("load_u8", stack[0], 1)
	}
	stack[0] = uint64(b[0])
	return nil
}

func envLoadU64(i *instance, stack []uint64) error {
	value, ok := i.arena.load64(stack[0])
	if !ok {
		return outside("load_u64", stack[0], 8)
	}
	stack[0] = value
	return nil
}

func envStoreU8(i *instance, stack []uint64) error {
	b, ok := i.arena.slice(stack[0], 1)
	if !ok {
		return outside("store_u8", stack[0], 1)
	}
	b[0] = byte(stack[1])
	return nil
}

func envStoreU64(i *instance, stack []uint64) error {
	if !i.arena.store64(stack[0], stack[1]) {
		return outside("store_u64", stack[0], 8)
	}
	return nil
}

func outside(function string, offset, length uint64) error {
	return refuse("%s of %s at offset %d, outside the memory shared with the host", function, size(clamp(length)), offset)
}

// clamp makes a number from a guest fit for printing.
func clamp(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

func envInputOffset(i *instance, stack []uint64) error {
	stack[0] = i.input
	return nil
}

func envInputLength(i *instance, stack []uint64) error {
	stack[0] = i.arena.length(i.input)
	return nil
}

func envInputLoadU8(i *instance, stack []uint64) error {
	at, length := stack[0], i.arena.length(i.input)
	if at >= length {
		return refuse("input_load_u8 at %d of an input of %s", at, size(clamp(length)))
	}
	b, _ := i.arena.slice(i.input+at, 1)
	stack[0] = uint64(b[0])
	return nil
}

func envInputLoadU64(i *instance, stack []uint64) error {
	at, length := stack[0], i.arena.length(i.input)
	if length < 8 || at > length-8 {
		return refuse("input_load_u64 at %d of an input of %s", at, size(clamp(length)))
	}
	stack[0], _ = i.arena.load64(i.input + at)
	return nil
}

func envOutputSet(i *instance, stack []uint64) error {
	offset, length := stack[0], stack[1]
	if i.outputLimit >= 0 && length > uint64(i.outputLimit) {
		return &hostFault{cause: i.outputTooLarge(length)}
	}
	if length > 0 {
		if _, ok := i.arena.slice(offset, length); !ok {
			return outside("output_set", offset, length)
		}
		i.arena.pin(offset)
	}
	i.output = extent{offset, length}
	return nil
}

func envErrorSet(i *instance, stack []uint64) error {
	if stack[0] != 0 {
		if _, ok := i.arena.block(stack[0]); !ok {
			return refuse("error_set of offset %d, where no block begins", stack[0])
		}
		i.arena.pin(stack[0])
	}
	i.failure = stack[0]
	return nil
}

func envErrorGet(i *instance, stack []uint64) error {
	stack[0] = i.failure
	return nil
}

func envConfigGet(i *instance, stack []uint64) error {
	key, ok := i.arena.block(stack[0])
	if !ok {
		return refuse("config_get of a key at offset %d, where no block begins", stack[0])
	}
	value, ok := i.module.spec.Config[string(key)]
	stack[0] = 0
	if ok {
		return i.give(stack, "config_get", []byte(value))
	}
	return nil
}

func envVarGet(i *instance, stack []uint64) error {
	key, ok := i.arena.block(stack[0])
	if !ok {
		return refuse("var_get of a key at offset %d, where no block begins", stack[0])
	}
	value, ok := i.vars[string(key)]
	stack[0] = 0
	if ok {
		return i.give(stack, "var_get", value)
	}
	return nil
}

// give copies a value into a fresh block and leaves its offset on the stack.
func (i *instance) give(stack []uint64, function string, value []byte) error {
	offset, ok := i.arena.put(value)
	if !ok {
		return refuse("%s found no room for %s", function, size(int64(len(value))))
	}
	stack[0] = offset
	return nil
}

func envVarSet(i *instance, stack []uint64) error {
	key, ok := i.arena.block(stack[0])
	if !ok {
		return refuse("var_set of a key at offset %d, where no block begins", stack[0])
	}
	if stack[1] == 0 {
		i.setVar(string(key), nil)
		return nil
	}
	value, ok := i.arena.block(stack[1])
	if !ok {
		return refuse("var_set of a value at offset %d, where no block begins", stack[1])
	}
	if !i.setVar(string(key), value) {
		return refuse("var_set found no room for %s", size(int64(len(value))))
	}
	return nil
}

func envHTTPRequest(*instance, []uint64) error {
	return refuse("http_request: HTTP is not granted to this plugin")
}

// envZero is what is said about the last HTTP request where there was none.
func envZero(_ *instance, stack []uint64) error {
	stack[0] = 0
	return nil
}

func envLog(level string) func(*instance, []uint64) error {
	return func(i *instance, stack []uint64) error {
		line, ok := i.arena.block(stack[0])
		if !ok && stack[0] != 0 {
			return refuse("log_%s of offset %d, where no block begins", level, stack[0])
		}
		i.logs.write(level, line)
		return nil
	}
}

func envGetLogLevel(i *instance, stack []uint64) error {
	stack[0] = numberTrace
	if i.logs.to == nil {
		stack[0] = numberOff
	}
	return nil
}
