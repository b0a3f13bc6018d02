package metering_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/weft-run/weft/host/wasm/engine/bytecode"
	"github.com/weft-run/weft/host/wasm/engine/metering"
)

func TestXSoak2(t *testing.T) {
	secs, _ := strconv.Atoi(os.Getenv("SOAK"))
	seed, _ := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	end := time.Now().Add(time.Duration(secs) * time.Second)
	random := rand.New(rand.NewPCG(seed, 98))
	r := wazero.NewRuntimeWithConfig(context.Background(), wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(features).WithDebugInfoEnabled(false))
	compiles := func(wasm []byte) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v", p)
			}
		}()
		c, err := r.CompileModule(context.Background(), wasm)
		if err == nil {
			err = c.Close(context.Background())
		}
		return err
	}
	n, ours, both, theirs := 0, 0, 0, 0
	why := map[string]int{}
	for time.Now().Before(end) {
		data := make([]byte, 20+random.IntN(500))
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		orig, _ := generate(data)
		for range 50 {
			wasm := append([]byte(nil), orig...)
			for range 1 + random.IntN(3) {
				at := 8 + random.IntN(len(wasm)-8)
				switch random.IntN(4) {
				case 0:
					wasm[at] = byte(random.Uint32())
				case 1:
					wasm[at] ^= 1 << random.IntN(8)
				case 2:
					wasm[at] += byte(random.IntN(3)) - 1
				case 3:
					wasm[at] = []byte{0, 1, 2, 3, 4, 5, 11, 12, 13, 14, 15, 16, 17, 18, 19, 0x40, 0x80, 0xfc, 0xfd, 0xd2, 0x7f, 0xff}[random.IntN(22)]
				}
			}
			n++
			m, faults := bytecode.Decode(wasm)
			if len(faults) > 0 {
				continue
			}
			code, fault := m.Scan()
			if fault != nil {
				if compiles(wasm) == nil {
					why[fault.Have]++
					if len(why) < 30 {
						why[fault.What+": "+fault.Have]++
					}
				}
				continue
			}
			if code.Locals > 10000 {
				continue
			}
			ours++
			res, err := metering.Instrument(m, code)
			if err != nil {
				t.Fatal(err)
			}
			a, b := compiles(wasm), compiles(res.Wasm)
			if (a == nil) != (b == nil) {
				os.WriteFile("/tmp/mg/soak2.wasm", wasm, 0o644)
				t.Fatalf("%v\n%v", a, b)
			}
			if a == nil {
				both++
			} else {
				theirs++
			}
		}
	}
	fmt.Println(n, "accepted by us", ours, "compiled both", both, "refused by both", theirs)
	k := 0
	for w, c := range why {
		fmt.Println("refused by us only", w, c)
		if k++; k > 20 {
			break
		}
	}
}
