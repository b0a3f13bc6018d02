package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/index"
	"github.com/weft-run/weft/host/kv"
	"github.com/weft-run/weft/host/kv/sqlite"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/host/wasm/engine"
)

// services are what an agent and its plugins stand on. All of it is closed after the plugins.
type services struct {
	engine *engine.Engine
	// own says that the engine is to be closed as well.
	own bool
	// client answers the agent. What keeps it from being made is in model.
	client host.ChatClient
	model  collector
	// embedder makes vectors, which may be by a client of its own; both are nil where no plugin asks for any.
	embedder, ownEmbedder host.Embedder
	// store keeps keys and values; nil where no plugin may.
	store kv.Store
	// indexes are those that a plugin may search, by name.
	indexes map[string]*index.Index
	// faults are what keeps any of these from being opened.
	faults collector
}

// openServices makes the client, and opens what is granted to a plugin, all indexes at the same time. What cannot be opened
// is among the faults.
func (c *Config) openServices(ctx context.Context, o BuildOptions) *services {
	s := &services{
		engine: o.Engine, own: o.Engine == nil, indexes: map[string]*index.Index{},
		model: collector{file: c.File}, faults: collector{file: c.File},
	}
	if s.own {
		s.engine = engine.New(engine.Options{Logger: o.Logger})
	}
	s.client = s.model.modelClient(c.Model, "model", o.Getenv)
	if c.grants(func(g wasm.Grants) bool { return g.Embed != nil }) {
		s.openEmbedder(c, o.Getenv)
	}
	if c.grants(func(g wasm.Grants) bool { return len(g.KV) > 0 }) {
		s.openStore(ctx, c)
	}
	s.openIndexes(ctx, c, o.Logger)
	return s
}

// grants reports whether a plugin is granted something.
func (c *Config) grants(what func(g wasm.Grants) bool) bool {
	return slices.ContainsFunc(c.Plugins(), func(p *Plugin) bool { return what(p.Wasm.Grants) })
}

// openEmbedder takes the model of embeddings, or the agent's own where that can make vectors without being told by which
// model.
func (s *services) openEmbedder(c *Config, getenv func(string) string) {
	if c.Embeddings == nil {
		if c.Model.Provider == ModelOpenAI {
			s.faults.add(c.Model.Line, c.Model.Column, "model", "add embeddings: {provider: openai, name: text-embedding-3-small}, or another model of a service",
				"a plugin is granted embed, and it is not said which model makes vectors")
			return
		}
		s.embedder, _ = s.client.(host.Embedder)
		return
	}
	m := *c.Embeddings
	m.OpenAI.EmbeddingModel = m.OpenAI.Model
	s.ownEmbedder, _ = s.faults.modelClient(m, "embeddings", getenv).(host.Embedder)
	s.embedder = s.ownEmbedder
}

func (s *services) openStore(ctx context.Context, c *Config) {
	if c.Storage == "" {
		s.store = kv.NewMemory(kv.Options{})
		return
	}
	store, err := sqlite.Open(ctx, c.Storage, kv.Options{})
	if err != nil {
		s.faults.causes = append(s.faults.causes, err)
		s.faults.add(c.storageAt.line, c.storageAt.column, "storage", "", "it cannot be opened: %v", err)
		return
	}
	s.store = store
}

// openIndexes opens the indexes that a plugin may search, and puts into them what is in their folders.
func (s *services) openIndexes(ctx context.Context, c *Config, log *slog.Logger) {
	open, errs := make([]*index.Index, len(c.Indexes)), make([]error, len(c.Indexes))
	var wg sync.WaitGroup
	for i, one := range c.Indexes {
		if !c.grants(func(g wasm.Grants) bool {
			return slices.ContainsFunc(g.Search, func(s abi.SearchGrant) bool { return s.Index == one.Name })
		}) {
			continue
		}
		wg.Go(func() { open[i], errs[i] = one.open(ctx, log) })
	}
	wg.Wait()
	for i, one := range c.Indexes {
		switch {
		case errs[i] != nil:
			s.faults.causes = append(s.faults.causes, errs[i])
			s.faults.add(one.Line, one.Column, one.path, "", "it cannot be opened: %v", errs[i])
		case open[i] != nil:
			s.indexes[one.Name] = open[i]
		}
	}
}

// open opens an index and puts into it what is in its folder.
func (i Index) open(ctx context.Context, log *slog.Logger) (*index.Index, error) {
	x, err := index.Open(ctx, i.File, index.Options{})
	if err != nil || i.Folder == "" {
		return x, err
	}
	if _, err := i.fill(ctx, x, log); err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return x, nil
}

// fill has an index hold what its folder holds now.
func (i Index) fill(ctx context.Context, x *index.Index, log *slog.Logger) (index.FolderStats, error) {
	folder, err := os.OpenRoot(i.Folder)
	if err != nil {
		return index.FolderStats{}, err
	}
	defer func() { _ = folder.Close() }() // it was only read
	stats, err := x.AddFolder(ctx, folder, index.FolderOptions{})
	if err != nil {
		return stats, err
	}
	log = cmp.Or(log, slog.Default())
	for _, f := range stats.Skipped {
		log.WarnContext(ctx, "a file is left out of an index", "index", i.Name, "file", f.Path, "reason", f.Reason)
	}
	return stats, nil
}

// forPlugins are the services as plugins get them.
func (s *services) forPlugins() wasm.Services {
	return wasm.Services{Model: s.client, Embedder: s.embedder, KV: s.store, Indexes: s.indexes}
}

// missing says which services a plugin needs that could not be opened; why is told where the config has them.
func (s *services) missing(g wasm.Grants) error {
	var faults []error
	if g.Complete != nil && s.client == nil {
		faults = append(faults, errors.New("it is granted complete, and the model cannot be used"))
	}
	if g.Embed != nil && s.embedder == nil {
		faults = append(faults, errors.New("it is granted embed, and no model can be used for it"))
	}
	if len(g.KV) > 0 && s.store == nil {
		faults = append(faults, errors.New("it is granted kv, and the storage cannot be opened"))
	}
	for _, one := range g.Search {
		if s.indexes[one.Index] == nil {
			faults = append(faults, fmt.Errorf("it is granted the index %s, which cannot be opened", one.Index))
		}
	}
	return errors.Join(faults...)
}

// close closes what was opened. It may be called again.
func (s *services) close(ctx context.Context) error {
	var errs []error
	for _, x := range s.indexes {
		errs = append(errs, x.Close())
	}
	if s.store != nil {
		errs = append(errs, s.store.Close())
	}
	for _, client := range []any{s.client, s.ownEmbedder} {
		if closer, ok := client.(io.Closer); ok {
			errs = append(errs, closer.Close())
		}
	}
	if s.own {
		errs = append(errs, s.engine.Close(ctx))
	}
	return errors.Join(errs...)
}
