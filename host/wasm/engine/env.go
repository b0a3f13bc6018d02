package engine

import (
	"math"
)

// hostFuncs holds the functions of extism:host/env that the host answers, with the meaning that they have in Extism. Where
// Extism leaves things open (an offset where no block begins), they trap and say so. The others are the kernel's.
var hostFuncs = map[string]hostFunc{
	"config_get": {types("I:I"), envConfigGet},
	"var_get":    {types("I:I"), envVarGet},
	"var_set":    {types("II"), envVarSet},

	"http_request":     {types("II:I"), envHTTPRequest},
	"http_status_code": {types(":i"), envHTTPStatusCode},
	"http_headers":     {types(":I"), envHTTPHeaders},

	"log_trace":     {types("I"), envLog(levelTrace)},
	"log_debug":     {types("I"), envLog(levelDebug)},
	"log_info":      {types("I"), envLog(levelInfo)},
	"log_warn":      {types("I"), envLog(levelWarn)},
	"log_error":     {types("I"), envLog(levelError)},
	"get_log_level": {types(":i"), envGetLogLevel},
}

// clamp makes a number from a guest fit for printing.
func clamp(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

func envConfigGet(i *instance, stack []uint64) error {
	key, err := i.block("config_get", "a key", stack[0])
	if err != nil {
		return err
	}
	stack[0] = 0
	value, ok := i.module.spec.Config[string(key)]
	if !ok {
		return nil
	}
	return i.give(stack, "config_get", []byte(value))
}

func envVarGet(i *instance, stack []uint64) error {
	key, err := i.block("var_get", "a key", stack[0])
	if err != nil {
		return err
	}
	stack[0] = 0
	value, ok := i.vars[string(key)]
	if !ok {
		return nil
	}
	return i.give(stack, "var_get", value)
}

func envVarSet(i *instance, stack []uint64) error {
	key, err := i.block("var_set", "a key", stack[0])
	if err != nil {
		return err
	}
	if stack[1] == 0 {
		if _, ok := i.vars[string(key)]; ok {
			return i.setVar(string(key), nil)
		}
		return nil
	}
	value, err := i.block("var_set", "a value", stack[1])
	if err != nil {
		return err
	}
	if n := int64(len(key) + len(value) + varCost); exceeds(n, i.module.limits.Vars) { // before anything is copied
		return i.tooManyVars(n)
	}
	return i.setVar(string(key), append(make([]byte, 0, len(value)), value...))
}

// varCost is what a var costs beside its bytes.
const varCost = 64

// setVar sets or, where value is nil, removes a var. Vars count as memory of the instance.
func (i *instance) setVar(key string, value []byte) error {
	var before int64
	if old, ok := i.vars[key]; ok {
		before = int64(len(key) + len(old) + varCost)
	}
	var after int64
	if value != nil {
		after = int64(len(key) + len(value) + varCost)
	}
	grown := after - before
	switch total := i.varsSize + grown; {
	case exceeds(total, i.module.limits.Vars):
		return i.tooManyVars(total)
	case grown > 0 && !i.budget.Take(grown):
		return refuse("var_set found no room for %s", size(int64(len(value))))
	case grown < 0:
		i.budget.Give(-grown)
	}
	i.varsSize += grown
	if value == nil {
		delete(i.vars, key)
		return nil
	}
	if i.vars == nil {
		i.vars = map[string][]byte{}
	}
	i.vars[key] = value
	return nil
}

func (i *instance) tooManyVars(total int64) error {
	return &hostFault{cause: i.module.limitError("vars", i.export, size(i.module.limits.Vars), size(total), "limits.vars")}
}

func (i *instance) clearVars() {
	clear(i.vars)
	i.budget.Give(i.varsSize)
	i.varsSize = 0
}

func envLog(level string) func(*instance, []uint64) error {
	return func(i *instance, stack []uint64) error {
		line, err := i.block("log_"+level, "a line", stack[0])
		if err != nil {
			return err
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
