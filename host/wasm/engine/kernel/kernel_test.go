package kernel_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/weft-run/weft/host/wasm/engine/kernel"
)

func TestModuleImportsWhatHostFunctionsSay(t *testing.T) {
	m := newMachine(t, 1)
	want := map[string]kernel.HostFunction{}
	for _, f := range kernel.HostFunctions() {
		want[f.Name] = f
	}
	require.Len(t, m.compiled.ImportedFunctions(), len(want))
	for _, f := range m.compiled.ImportedFunctions() {
		module, name, _ := f.Import()
		require.Equal(t, kernel.ModuleHost, module)
		require.Equal(t, want[name].Params, f.ParamTypes(), name)
		require.Equal(t, want[name].Results, f.ResultTypes(), name)
		require.Contains(t, m.compiled.ExportedFunctions(), name)
	}
}

func TestModuleHasAllOfExtismsFunctions(t *testing.T) {
	// Those of extism:host/env in the Go SDK of Extism, v1.7.1.
	want := map[string]string{
		"alloc": "I:I", "free": "I:", "length": "I:I", "length_unsafe": "I:I",
		"load_u8": "I:i", "load_u64": "I:I", "store_u8": "Ii:", "store_u64": "II:",
		"input_load_u8": "I:i", "input_load_u64": "I:I", "input_length": ":I", "input_offset": ":I", "input_set": "II:",
		"output_set": "II:", "output_length": ":I", "output_offset": ":I", "error_set": "I:", "error_get": ":I",
		"reset": ":", "memory_bytes": ":I",
		"config_get": "I:I", "var_get": "I:I", "var_set": "II:",
		"http_request": "II:I", "http_status_code": ":i", "http_headers": ":I", "get_log_level": ":i",
		"log_trace": "I:", "log_debug": "I:", "log_info": "I:", "log_warn": "I:", "log_error": "I:",
	}
	letters := func(types []api.ValueType) (text string) {
		for _, v := range types {
			text += map[api.ValueType]string{api.ValueTypeI32: "i", api.ValueTypeI64: "I"}[v]
		}
		return text
	}
	have := map[string]string{}
	for name, f := range newMachine(t, 1).compiled.ExportedFunctions() {
		have[name] = letters(f.ParamTypes()) + ":" + letters(f.ResultTypes())
	}
	require.Equal(t, want, have)
}

func TestBindRefusesAnotherModule(t *testing.T) {
	r := wazero.NewRuntime(t.Context())
	defer r.Close(t.Context())
	for _, sections := range []string{"", "\x05\x03\x01\x00\x01"} { // with no memory, and with one
		mod, err := r.InstantiateWithConfig(t.Context(), []byte("\x00asm\x01\x00\x00\x00"+sections),
			wazero.NewModuleConfig().WithName(""))
		require.NoError(t, err)
		_, err = kernel.Bind(mod)
		require.ErrorContains(t, err, "has no mutable global")
	}
}

func TestInput(t *testing.T) {
	i := newInstance(t)
	require.Zero(t, i.call("input_length"), "before the first input there is none")
	require.Zero(t, i.call("input_offset"))
	require.True(t, i.Begin([]byte("twelve bytes"), -1))
	require.EqualValues(t, 12, i.call("input_length"))
	require.EqualValues(t, 12, i.InputLength())
	offset := i.call("input_offset")
	require.EqualValues(t, 12, i.call("length", offset), "the input is a block")
	data, ok := i.Block(offset)
	require.True(t, ok)
	require.Equal(t, "twelve bytes", string(data))
	require.EqualValues(t, 't', i.call("input_load_u8", 0))
	require.EqualValues(t, 's', i.call("input_load_u8", 11))
	require.Equal(t, i.call("load_u64", offset+4), i.call("input_load_u64", 4))

	// A guest may say that its input is elsewhere.
	block := i.call("alloc", 16)
	i.call("store_u8", block+3, 'x')
	i.call("input_set", block+3, 9)
	require.Equal(t, block+3, i.call("input_offset"))
	require.EqualValues(t, 9, i.call("input_length"))
	require.EqualValues(t, 'x', i.call("input_load_u8", 0))
	i.call("input_load_u64", 1)
	i.call("input_set", block, 0)
	require.Zero(t, i.call("input_length"))

	i.Reset()
	require.Zero(t, i.call("input_length"))
	require.True(t, i.Begin([]byte("input"), -1))
	i.call("free", i.call("input_offset"))
	require.Zero(t, i.call("input_length"), "freed")
	require.Zero(t, i.InputLength())
	i.call("store_u8", 528, 1)
	_, err := i.try("store_u8", 527, 1)
	require.Error(t, err, "what lies below the first block is the host's")
	i.Reset()
	require.True(t, i.Begin([]byte("input"), -1))
	i.call("free", i.call("input_offset"))
	require.EqualValues(t, 528, i.call("alloc", 3), "there is room")
	_, err = i.try("load_u8", 544)
	require.Error(t, err)
}

func TestAccessOutsideIsAFault(t *testing.T) {
	const top = 528 + 16 // of an input of 9 bytes
	for _, c := range []struct {
		function string
		params   []uint64
		want     kernel.Fault
	}{
		{"load_u8", []uint64{527}, kernel.Fault{Kind: kernel.Outside, Offset: 527, Length: 1}},
		{"load_u8", []uint64{top}, kernel.Fault{Kind: kernel.Outside, Offset: top, Length: 1}},
		{"load_u8", []uint64{1<<32 + 528}, kernel.Fault{Kind: kernel.Outside, Offset: 1<<32 + 528, Length: 1}},
		{"load_u8", []uint64{math.MaxUint64}, kernel.Fault{Kind: kernel.Outside, Offset: math.MaxUint64, Length: 1}},
		{"load_u64", []uint64{0}, kernel.Fault{Kind: kernel.Outside, Offset: 0, Length: 8}},
		{"load_u64", []uint64{527}, kernel.Fault{Kind: kernel.Outside, Offset: 527, Length: 8}},
		{"load_u64", []uint64{top - 7}, kernel.Fault{Kind: kernel.Outside, Offset: top - 7, Length: 8}},
		{"load_u64", []uint64{1<<32 + 528}, kernel.Fault{Kind: kernel.Outside, Offset: 1<<32 + 528, Length: 8}},
		{"load_u64", []uint64{math.MaxUint64 - 3}, kernel.Fault{Kind: kernel.Outside, Offset: math.MaxUint64 - 3, Length: 8}},
		{"store_u8", []uint64{0, 1}, kernel.Fault{Kind: kernel.Outside, Offset: 0, Length: 1}},
		{"store_u8", []uint64{top, 1}, kernel.Fault{Kind: kernel.Outside, Offset: top, Length: 1}},
		{"store_u8", []uint64{1<<32 + 528, 1}, kernel.Fault{Kind: kernel.Outside, Offset: 1<<32 + 528, Length: 1}},
		{"store_u64", []uint64{520, 1}, kernel.Fault{Kind: kernel.Outside, Offset: 520, Length: 8}},
		{"store_u64", []uint64{top - 7, 1}, kernel.Fault{Kind: kernel.Outside, Offset: top - 7, Length: 8}},
		{"store_u64", []uint64{1<<32 + 528, 1}, kernel.Fault{Kind: kernel.Outside, Offset: 1<<32 + 528, Length: 8}},
		{"input_load_u8", []uint64{9}, kernel.Fault{Kind: kernel.OutsideInput, Offset: 9, Length: 9}},
		{"input_load_u8", []uint64{math.MaxUint64}, kernel.Fault{Kind: kernel.OutsideInput, Offset: math.MaxUint64, Length: 9}},
		{"input_load_u64", []uint64{2}, kernel.Fault{Kind: kernel.OutsideInput, Offset: 2, Length: 9}},
		{"input_load_u64", []uint64{math.MaxUint64 - 6}, kernel.Fault{Kind: kernel.OutsideInput, Offset: math.MaxUint64 - 6, Length: 9}},
		{"input_set", []uint64{527, 1}, kernel.Fault{Kind: kernel.Outside, Offset: 527, Length: 1}},
		{"input_set", []uint64{528, 17}, kernel.Fault{Kind: kernel.Outside, Offset: 528, Length: 17}},
		{"output_set", []uint64{527, 1}, kernel.Fault{Kind: kernel.Outside, Offset: 527, Length: 1}},
		{"output_set", []uint64{530, 15}, kernel.Fault{Kind: kernel.Outside, Offset: 530, Length: 15}},
		{"output_set", []uint64{1<<32 + 528, 1}, kernel.Fault{Kind: kernel.Outside, Offset: 1<<32 + 528, Length: 1}},
		{"output_set", []uint64{528, 101}, kernel.Fault{Kind: kernel.TooLarge, Offset: 528, Length: 101}},
		{"output_set", []uint64{3, math.MaxUint64}, kernel.Fault{Kind: kernel.TooLarge, Offset: 3, Length: math.MaxUint64}},
		{"error_set", []uint64{529}, kernel.Fault{Kind: kernel.NoBlock, Offset: 529}},
		{"error_set", []uint64{512}, kernel.Fault{Kind: kernel.NoBlock, Offset: 512}},
		{"error_set", []uint64{1<<32 + 528}, kernel.Fault{Kind: kernel.NoBlock, Offset: 1<<32 + 528}},
	} {
		i := newInstance(t)
		require.True(t, i.Begin([]byte("nine byte"), 100))
		before, _ := i.mod.Memory().Read(512, 32)
		before = bytes.Clone(before)
		_, ok := i.Fault()
		require.False(t, ok)
		_, err := i.try(c.function, c.params...)
		require.ErrorContains(t, err, "unreachable", "%s %v", c.function, c.params)
		fault, ok := i.Fault()
		require.True(t, ok)
		c.want.Function = c.function
		require.Equal(t, c.want, fault)
		after, _ := i.mod.Memory().Read(512, 32)
		require.Equal(t, before, after, "nothing was written")
		i.Reset()
		_, ok = i.Fault()
		require.False(t, ok, "forgotten with the call")
	}
}

func TestAccessUpToTheEnds(t *testing.T) {
	i := newInstance(t)
	require.True(t, i.Begin([]byte("nine byte"), -1))
	const top = 528 + 16
	i.call("store_u64", 528, 0x0807060504030201)
	require.EqualValues(t, 0x0807060504030201, i.call("load_u64", 528))
	i.call("store_u64", top-8, 7)
	require.EqualValues(t, 7, i.call("load_u8", top-8))
	i.call("store_u8", top-1, 300)
	require.EqualValues(t, 300-256, i.call("load_u8", top-1))
	i.call("input_load_u64", 1)
	require.Equal(t, i.call("memory_bytes"), uint64(i.Size()))
}

func TestOutput(t *testing.T) {
	i := newInstance(t)
	require.True(t, i.Begin([]byte("some input"), 10))
	output, ok := i.Output()
	require.True(t, ok)
	require.Empty(t, output)
	i.call("output_set", i.call("input_offset")+5, 5)
	output, _ = i.Output()
	require.Equal(t, "input", string(output), "from inside a block")
	require.Equal(t, i.call("input_offset")+5, i.call("output_offset"))
	require.EqualValues(t, 5, i.call("output_length"))
	i.call("output_set", 0, 0)
	output, _ = i.Output()
	require.Empty(t, output)
	_, err := i.try("output_set", i.call("input_offset"), 11)
	require.Error(t, err)

	i.Reset()
	require.True(t, i.Begin([]byte("none"), 0), "a limit of nothing")
	_, err = i.try("output_set", i.call("input_offset"), 1)
	require.Error(t, err)
}

func TestErrorText(t *testing.T) {
	i := newInstance(t)
	_, set := i.ErrorText()
	require.False(t, set)
	offset, ok := i.Put([]byte("it failed"))
	require.True(t, ok)
	i.call("error_set", offset)
	require.Equal(t, offset, i.call("error_get"))
	text, set := i.ErrorText()
	require.True(t, set)
	require.Equal(t, "it failed", string(text))
	i.call("error_set", 0)
	_, set = i.ErrorText()
	require.False(t, set, "taken back")

	i.call("error_set", offset)
	i.call("store_u64", offset-16, 0)
	text, set = i.ErrorText()
	require.True(t, set, "a guest that overwrites its header has an error all the same")
	require.Empty(t, text)
}

func TestResetLeavesNothing(t *testing.T) {
	i := newInstance(t)
	for round := range 3 {
		require.True(t, i.Begin(bytes.Repeat([]byte("secret "), 1000), -1))
		high := i.call("alloc", 300_000)
		i.call("store_u64", high+299_992, math.MaxUint64)
		i.call("free", high) // below top, but not forgotten
		block := i.call("alloc", 8)
		i.call("error_set", block)
		i.call("output_set", block, 8)
		require.Greater(t, i.Used(), int64(300_000))
		if round == 2 {
			i.call("reset")
		}
		i.Reset()
		memory, ok := i.mod.Memory().Read(544, uint32(i.Size())-544)
		require.True(t, ok)
		require.Empty(t, bytes.TrimLeft(memory, "\x00"))
		require.EqualValues(t, 544, i.Used())
		_, set := i.ErrorText()
		require.False(t, set)
		output, _ := i.Output()
		require.Empty(t, output)
	}
}

func TestResetByTheGuest(t *testing.T) {
	i := newInstance(t)
	require.True(t, i.Begin([]byte("the input"), 100))
	block := i.call("alloc", 100)
	i.call("alloc", 100)
	i.call("free", block)
	i.call("error_set", i.call("input_offset"))
	i.call("output_set", i.call("input_offset"), 3)
	used := i.Used()
	i.call("reset")
	require.Zero(t, i.call("input_length"))
	require.Zero(t, i.call("error_get"))
	require.Zero(t, i.call("output_length"))
	require.Zero(t, i.call("length", block))
	require.Equal(t, used, i.Used(), "what is to be zeroed stays known")
	_, err := i.try("load_u8", block)
	require.Error(t, err)
	require.Equal(t, i.call("alloc", 5), uint64(544+16))
	_, err = i.try("output_set", 528, 101)
	require.Error(t, err, "the limit of the output stays")
}

func TestGuestIsLinkedToItsOwnKernel(t *testing.T) {
	m := newMachine(t, 1024)
	a, b := m.instance(t), m.instance(t)
	guestA, guestB := m.guest(t, a.Kernel, "echoes"), m.guest(t, b.Kernel, "echoes")
	for _, export := range []string{"echo", "echo_from_its_place"} {
		for _, n := range []int{0, 1, 7, 8, 9, 15, 16, 100, 70_001} {
			input := bytes.Repeat([]byte{byte(n), 2, 3}, n)[:n]
			require.True(t, a.Begin(input, -1))
			require.True(t, b.Begin([]byte("another"), -1))
			for _, g := range []api.Module{guestA, guestB} {
				_, err := g.ExportedFunction(export).Call(t.Context())
				require.NoError(t, err)
			}
			output, ok := a.Output()
			require.True(t, ok)
			require.Equal(t, input, append([]byte{}, output...))
			output, _ = b.Output()
			require.Equal(t, "another", string(output))
			a.Reset()
			b.Reset()
		}
	}
}

func TestHostFunctions(t *testing.T) {
	m := newMachine(t, 1024)
	i := m.instance(t)
	guest := m.guest(t, i.Kernel, "asks-its-host")
	var called []string
	m.host = func(name string, stack []uint64) {
		called = append(called, name)
		switch name {
		case "config_get":
			key, ok := i.Block(stack[0])
			require.True(t, ok)
			require.Equal(t, "\x01\x02\x03\x04\x05\x06\x07\x08", string(key))
			stack[0], ok = i.Put([]byte("a value from the host"))
			require.True(t, ok)
		case "get_log_level":
			stack[0] = 2
		}
	}
	require.True(t, i.Begin(nil, -1))
	result, err := guest.ExportedFunction("asks").Call(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 2, result[0])
	output, ok := i.Output()
	require.True(t, ok)
	require.Equal(t, "a value from the host", string(output))
	require.Equal(t, []string{"config_get", "get_log_level"}, called)
}

func TestHostAllocatesWithoutGarbage(t *testing.T) {
	i := newInstance(t)
	input := make([]byte, 1000)
	i.Put(input)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		i.Begin(input, -1)
		offset, _ := i.Put(input)
		i.Block(offset)
		i.Output()
		i.ErrorText()
		i.Fault()
		i.Reset()
	}))
}
