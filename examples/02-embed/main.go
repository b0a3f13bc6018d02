// Command embed is a Go program with an agent of its own: one provider written in Go, one that is a plugin file.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/model/offline"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/host/wasm/engine"
	"github.com/weft-run/weft/message"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: embed PLUGIN.wasm")
	}
	if err := run(context.Background(), os.Args[1], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, plugin string, out io.Writer) (err error) {
	sandbox := engine.New(engine.Options{})
	defer func() { err = firstError(err, sandbox.Close(ctx)) }()

	// A plugin: nothing is granted beyond the default, so it reads the input and adds user messages and instructions.
	hello, err := wasm.Load(ctx, sandbox, wasm.Config{Path: plugin})
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, hello.Close(ctx)) }()

	// A provider in Go: a plain function is one hook. What belongs to the session goes into its state.
	visits := host.BeforeRunFunc("visits", func(_ context.Context, sc *host.SessionContext) error {
		var n int
		if _, err := sc.State().Get("n", &n); err != nil {
			return err
		}
		n++
		sc.ExtendMessages(message.User(fmt.Sprintf("The visitor has asked %d questions so far.", n)))
		return sc.State().Set("n", n)
	})

	agent, err := host.NewAgent(host.AgentConfig{
		Name:      "receptionist",
		Client:    offline.New(offline.Config{}),
		Providers: []host.Provider{host.NewInMemoryHistory(host.HistoryConfig{}), visits, hello},
	})
	if err != nil {
		return err
	}
	session := agent.CreateSession("visitor-1")
	for _, question := range []string{"When does the office open?", "How many questions has the visitor asked?"} {
		response, err := agent.Run(ctx, host.Text(question), host.RunConfig{Session: session})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "> %s\n%s\n", question, response.Text())
	}

	// A session is data: it is saved, and any agent can go on with it.
	saved, err := session.MarshalJSON()
	if err != nil {
		return err
	}
	restored, err := host.RestoreSession(saved)
	if err != nil {
		return err
	}
	state, err := restored.State("visits").Raw()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "the state of visits, restored: %s\n", state)
	return nil
}

func firstError(err, other error) error {
	if err != nil {
		return err
	}
	return other
}
