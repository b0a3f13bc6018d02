package kernel

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/api"
)

const (
	// ModuleEnv is the module that guests import from, and that an instance stands for.
	ModuleEnv = "extism:host/env"
	// ModuleHost is the module that the kernel imports from; see HostFunctions.
	ModuleHost = "weft:host"
)

// The globals that an instance exports beside its functions. They are the host's.
const (
	globalTop        = "top"
	globalInputAt    = "input_at"
	globalInputWords = "input_words"
)

// code is what kernel.wat assembles to. A test compares them, and writes this file when it is run with -update.
//
//go:embed kernel.wasm
var code string

// Module returns the bytes of the module. They are the caller's.
func Module() []byte { return []byte(code) }

// HostFunction is a function that the kernel imports from ModuleHost and that guests get from it.
type HostFunction struct {
	// Name is that of the import, and of the export that guests see.
	Name string
	// Params and Results are its type.
	Params, Results []api.ValueType
}

// hostFunctions has a letter for each parameter and, after a colon, for each result; i is i32, I is i64.
var hostFunctions = [...][2]string{
	{"config_get", "I:I"},
	{"var_get", "I:I"},
	{"var_set", "II:"},
	{"http_request", "II:I"},
	{"http_status_code", ":i"},
	{"http_headers", ":I"},
	{"log_trace", "I:"},
	{"log_debug", "I:"},
	{"log_info", "I:"},
	{"log_warn", "I:"},
	{"log_error", "I:"},
	{"get_log_level", ":i"},
}

// HostFunctions returns what the host must give, in a module named ModuleHost that is there when the kernel is
// instantiated. Offsets that these functions are called with go to Block, and what they return comes from Put.
func HostFunctions() []HostFunction {
	list := make([]HostFunction, 0, len(hostFunctions))
	for _, f := range hostFunctions {
		params, results, _ := strings.Cut(f[1], ":")
		list = append(list, HostFunction{Name: f[0], Params: valueTypes(params), Results: valueTypes(results)})
	}
	return slices.Clip(list)
}

func valueTypes(letters string) (list []api.ValueType) {
	for _, letter := range letters {
		if letter == 'I' {
			list = append(list, api.ValueTypeI64)
		} else {
			list = append(list, api.ValueTypeI32)
		}
	}
	return list
}
