package main

import (
	"context"
	"fmt"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
)

// contexts is how many of the five providers of a run add a message; the fifth adds the tool.
const contexts = 4

// addsTools are the rights of the guest that adds a tool.
var addsTools = wasm.Grants{Add: []string{"messages", "instructions", "tools"}}

// five are the providers of a run, in Go or as plugins from one language.
func (b *bench) five(ctx context.Context, guest string) ([]host.Provider, error) {
	var providers []host.Provider
	add := func(id, module string, grants wasm.Grants, inGo host.Provider) error {
		if guest == native {
			providers = append(providers, inGo)
			return nil
		}
		p, err := b.load(ctx, guest, module, wasm.Config{SourceID: id, Grants: grants})
		providers = append(providers, p)
		return err
	}
	for n := range contexts {
		id := fmt.Sprintf("%s_context_%d", guest, n+1)
		if err := add(id, "context", wasm.Grants{}, nativeContext(id)); err != nil {
			return nil, err
		}
	}
	id := guest + "_tools"
	tools, err := newNativeTools(id)
	if err != nil {
		return nil, err
	}
	return providers, add(id, "tools", addsTools, tools)
}

// agentOfFive is an agent with the five providers.
func (b *bench) agentOfFive(ctx context.Context, guest string, model script) (*host.Agent, error) {
	providers, err := b.five(ctx, guest)
	if err != nil {
		return nil, err
	}
	return newAgent(model, host.Middleware{}, providers...)
}
