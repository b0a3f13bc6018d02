package engine

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/weft-run/weft/host/wasm/engine/kernel"
	"github.com/weft-run/weft/internal/wat"
)

func TestHoweverManyLoadAModuleItIsCompiledOnce(t *testing.T) {
	e := New(Options{Workers: 1})
	wasm := wat.Assemble(t, filepath.Join("testdata", "echoes.wat"))
	modules := make([]*Module, 20)
	var wg sync.WaitGroup
	for n := range modules {
		wg.Go(func() {
			m, err := e.Load(context.Background(), wasm, Spec{Name: "echoes"})
			if err != nil {
				t.Error(err)
			}
			modules[n] = m
		})
	}
	wg.Wait()
	for _, m := range modules {
		require.Same(t, modules[0].artifact.compiled, m.artifact.compiled)
	}
	require.Len(t, e.artifacts, 1)
	require.NoError(t, e.Close(t.Context()))
	require.Empty(t, e.artifacts, "the last one closed frees it")
}

func TestLoadThatIsCancelledWhileOthersCompileLeavesItToThem(t *testing.T) {
	e := New(Options{Workers: 1})
	defer func() { require.NoError(t, e.Close(context.Background())) }()
	wasm := wat.Assemble(t, filepath.Join("testdata", "echoes.wat"))
	e.workers <- struct{}{} // somebody else compiles
	ctx, cancel := context.WithCancel(t.Context())
	loaded := make(chan error, 1)
	go func() {
		_, err := e.Load(ctx, wasm, Spec{Name: "echoes"})
		loaded <- err
	}()
	cancel()
	require.ErrorIs(t, <-loaded, context.Canceled)
	<-e.workers
	_, err := e.Load(t.Context(), wasm, Spec{Name: "echoes"})
	require.NoError(t, err)
}

func TestSignaturesOfTheEnvAreThoseOfTheKernel(t *testing.T) {
	ctx := t.Context()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	compiled, err := r.CompileModule(ctx, kernel.Module())
	require.NoError(t, err)
	have := map[string]signature{}
	for name, def := range compiled.ExportedFunctions() {
		have[name] = signature{namesOf(def.ParamTypes()), namesOf(def.ResultTypes())}
	}
	require.Equal(t, have, envSignatures)
	for _, f := range kernel.HostFunctions() {
		require.Equal(t, signature{namesOf(f.Params), namesOf(f.Results)}, hostFuncs[f.Name].signature, f.Name)
	}
	require.Len(t, hostFuncs, len(kernel.HostFunctions()))
}

func namesOf(types []api.ValueType) (names []string) {
	for _, v := range types {
		names = append(names, api.ValueTypeName(v))
	}
	return names
}
