// Command smallest is an agent with one native provider and nothing else: what a program grows by when it embeds the host.
// `make bench` builds it and prints its size.
package main

import (
	"context"
	"fmt"
	"iter"
	"os"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// parrot is a model that repeats its last message.
type parrot struct{}

func (parrot) Complete(_ context.Context, r *host.ChatRequest) (*host.Response, error) {
	return host.NewResponse(r.Messages[len(r.Messages)-1].Text()), nil
}

func (p parrot) Stream(ctx context.Context, r *host.ChatRequest) iter.Seq2[*host.Update, error] {
	return func(yield func(*host.Update, error) bool) {
		response, err := p.Complete(ctx, r)
		if err == nil {
			yield(host.TextUpdate(response.Text()), nil)
		}
	}
}

func main() {
	agent, err := host.NewAgent(host.AgentConfig{
		Client: parrot{},
		Providers: []host.Provider{host.BeforeRunFunc("greeter", func(_ context.Context, sc *host.SessionContext) error {
			sc.ExtendMessages(message.System("Be kind."))
			return nil
		})},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	response, err := agent.Run(context.Background(), host.Text("hello"), host.RunConfig{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(response.Text())
}
