package wasm

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/abi"
)

// Views are used again; nothing of one call is in the next, whatever became of the one before.
func TestAViewThatServedBeforeHoldsNothingOfIt(t *testing.T) {
	v := &version{sourceID: "p", config: []byte(`{}`)}
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			for i := range 100 {
				in := v.newView(&call{hook: abi.HookBeforeRun, runID: fmt.Sprint(n, ".", i)})
				if i%3 == 0 {
					in.text("long", strings.Repeat("x", i*viewKept/50))
				}
				if i%5 == 0 {
					in.text("broken", "\xff")
				}
				got, err := in.done()
				require.Equal(t, i%5 == 0, err != nil)
				want := fmt.Sprintf(`{"abi":1,"hook":"before_run","source_id":"p","run":{"run_id":"%d.%d"},"config":{}`, n, i)
				require.Equal(t, want, string(got[:len(want)]))
				if i%3 != 0 && i%5 != 0 {
					require.Equal(t, want+"}", string(got))
				}
				in.release()
			}
		})
	}
	wg.Wait()
}
