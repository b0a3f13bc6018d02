package pool_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weft-run/weft/host/wasm/engine/pool"
)

// worker is a resource.
type worker struct{}

func (*worker) Work() string    { return "done" }
func (*worker) Close()          {}
func (*worker) Interrupt(error) {}

func newWorker(context.Context) (*worker, error) { return &worker{}, nil }

func Example() {
	ctx := context.Background()
	p := pool.New(newWorker, pool.Options{Most: 2, IdleTime: time.Minute})
	defer p.Close(ctx)

	for range 3 {
		lease, err := p.Get(ctx, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(lease.Value().Work(), lease.New())
		lease.Put()
	}
	s := p.Stats()
	fmt.Println(s.Created, "made,", s.Borrowed, "borrowed")
	// Output:
	// done true
	// done false
	// done false
	// 1 made, 3 borrowed
}

// A call that needs a second resource while it holds one says so. It is turned away where it would wait for itself.
func ExamplePool_Get_nested() {
	ctx := context.Background()
	p := pool.New(newWorker, pool.Options{Most: 1})
	defer p.Close(ctx)

	outer, err := p.Get(ctx, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer outer.Put()
	_, err = p.Get(ctx, outer.Hold())
	fmt.Println(errors.Is(err, pool.ErrBusy))
	// Output: true
}

func ExamplePool_Warm() {
	ctx := context.Background()
	made := make(chan struct{}, 2)
	p := pool.New(func(ctx context.Context) (*worker, error) {
		if pool.Ahead(ctx) {
			defer func() { made <- struct{}{} }()
		}
		return newWorker(ctx)
	}, pool.Options{})
	defer p.Close(ctx)

	p.Warm(2)
	<-made
	<-made
	fmt.Println("two are ready before the first call")
	// Output: two are ready before the first call
}

func ExamplePool_Close() {
	p := pool.New(newWorker, pool.Options{})
	lease, err := p.Get(context.Background(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	fmt.Println(p.Close(ctx)) // the worker was told to stop
	lease.Put()
	<-p.Drained()
	_, err = p.Get(context.Background(), nil)
	fmt.Println(err)
	// Output:
	// context deadline exceeded
	// pool is closed
}
