package engine_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine"
)

// held is what a process holds beside memory.
type held struct{ goroutines, descriptors, mappings int }

func holding(t *testing.T) held {
	t.Helper()
	h := held{goroutines: runtime.NumGoroutine()}
	if entries, err := os.ReadDir("/proc/self/fd"); err == nil {
		h.descriptors = len(entries)
	}
	if text, err := os.ReadFile("/proc/self/maps"); err == nil {
		for _, b := range text {
			if b == '\n' {
				h.mappings++
			}
		}
	}
	return h
}

// settled waits until the process holds no more than before. A few mappings are the runtime's own.
func settled(t *testing.T, before held) {
	t.Helper()
	var now held
	for range 500 { // A collection frees what nobody holds, and lets what is ending end.
		runtime.GC()
		now = holding(t)
		if now.goroutines <= before.goroutines && now.descriptors <= before.descriptors && now.mappings <= before.mappings+25 {
			return
		}
	}
	require.Fail(t, "something was left", "before %+v, now %+v", before, now)
}

func TestTenThousandCallsOfAllKindsLeaveNothing(t *testing.T) {
	before := holding(t)
	e := engine.New(engine.Options{})
	open := func(name string) *engine.Module {
		m, err := e.Load(t.Context(), fixture(t, name), engine.Spec{
			Name: name, Limits: engine.Limits{Faults: engine.Unlimited, Memory: 2 << 20},
		})
		require.NoError(t, err)
		return m
	}
	echoes, counts, traps, exits, grows := open("echoes"), open("counts-calls"), open("traps"), open("exits-three"), open("grows-without-end")
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for n := range 2500 {
				var err, want error
				switch n % 10 {
				case g:
					_, err = traps.Call(context.Background(), engine.Call{Export: "unreachable"})
					want = engine.ErrTrap
				case g + 1:
					_, err = exits.Call(context.Background(), engine.Call{Export: "before_run"})
					want = engine.ErrExit
				case g + 2:
					_, err = grows.Call(context.Background(), engine.Call{Export: "then_traps"})
					want = engine.ErrMemoryLimit
				case g + 3:
					_, err = counts.Call(context.Background(), engine.Call{Export: "in_size"})
				default:
					_, err = echoes.Call(context.Background(), engine.Call{Export: "echo", Input: []byte("hello")})
				}
				if !errors.Is(err, want) {
					t.Errorf("got %v, want %v", err, want)
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, e.Close(context.Background()))
	require.Zero(t, e.MemoryInUse())
	settled(t, before)
}

func TestReloadsLeaveNothing(t *testing.T) {
	e := newEngine(t, engine.Options{CacheDir: t.TempDir()})
	reload := func(name string) {
		m, err := e.Load(t.Context(), fixture(t, name), engine.Spec{Name: name})
		require.NoError(t, err)
		call(t, m, "in_memory", "")
		require.NoError(t, m.Close(t.Context()))
	}
	reload("counts-calls")
	before := holding(t)
	for range 300 {
		reload("counts-calls")
	}
	settled(t, before)
	require.Zero(t, e.MemoryInUse())
}
