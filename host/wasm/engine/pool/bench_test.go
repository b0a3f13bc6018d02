package pool_test

import (
	"context"
	"testing"
	"time"

	"github.com/weft-run/weft/host/wasm/engine/pool"
)

// cheap is a resource that costs nothing. Two of them do not share a line of the processor's caches.
type cheap struct {
	sum int
	_   [120]byte
}

func (*cheap) Close()          {}
func (*cheap) Interrupt(error) {}

// work stands for a call of about a microsecond.
func (c *cheap) work() {
	sum := c.sum
	for i := range 1000 {
		sum = sum*31 + i
	}
	c.sum = sum
}

func benchPool(b *testing.B, options pool.Options) *pool.Pool[*cheap] {
	p := pool.New(func(context.Context) (*cheap, error) { return &cheap{}, nil }, options)
	b.Cleanup(func() { _ = p.Close(context.Background()) })
	return p
}

// BenchmarkGetPut borrows and gives back what is idle.
func BenchmarkGetPut(b *testing.B) {
	for name, options := range map[string]pool.Options{"plain": {}, "kept": {Keep: 4, IdleTime: time.Minute}} {
		b.Run(name, func(b *testing.B) {
			p := benchPool(b, options)
			ctx := b.Context()
			b.ReportAllocs()
			for b.Loop() {
				lease, err := p.Get(ctx, nil)
				if err != nil {
					b.Fatal(err)
				}
				lease.Put()
			}
		})
	}
}

func BenchmarkGetPutNested(b *testing.B) {
	p := benchPool(b, pool.Options{})
	outer, err := p.Get(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer outer.Put()
	b.ReportAllocs()
	for b.Loop() {
		lease, err := p.Get(b.Context(), outer.Hold())
		if err != nil {
			b.Fatal(err)
		}
		lease.Put()
	}
}

// BenchmarkParallel has as many goroutines as processors borrow and give back: with nothing in between, which is the
// worst case for a lock, and with a short call. Run it with -cpu 1,2.
func BenchmarkParallel(b *testing.B) {
	for name, work := range map[string]func(*cheap){"empty": func(*cheap) {}, "call": (*cheap).work} {
		b.Run(name, func(b *testing.B) {
			p := benchPool(b, pool.Options{})
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					lease, err := p.Get(context.Background(), nil)
					if err != nil {
						b.Error(err)
						return
					}
					work(lease.Value())
					lease.Put()
				}
			})
		})
	}
}

// BenchmarkHandOver has more goroutines than resources, so that each one waits.
func BenchmarkHandOver(b *testing.B) {
	p := benchPool(b, pool.Options{Most: 1})
	b.SetParallelism(4)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			lease, err := p.Get(context.Background(), nil)
			if err != nil {
				b.Error(err)
				return
			}
			lease.Value().work()
			lease.Put()
		}
	})
}

// BenchmarkMake makes a resource for each call and closes it.
func BenchmarkMake(b *testing.B) {
	p := benchPool(b, pool.Options{})
	b.ReportAllocs()
	for b.Loop() {
		lease, err := p.Get(b.Context(), nil)
		if err != nil {
			b.Fatal(err)
		}
		lease.Discard(pool.Spent)
	}
}
