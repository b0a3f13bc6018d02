package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/host/wasm/engine"
)

// engineFlags are the flags of commands that run plugins.
type engineFlags struct {
	cacheDir string
	noCache  bool
}

func (f *engineFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.cacheDir, "cache-dir", "", "keep compiled plugins in this folder (default: weft in the user's cache folder)")
	cmd.Flags().BoolVar(&f.noCache, "no-cache", false, "compile plugins anew and keep nothing")
	_ = cmd.MarkFlagDirname("cache-dir") // the flag was defined above
}

// engine makes the engine, with the cache that the flags name.
func (f *engineFlags) engine(cmd *cobra.Command, log *slog.Logger) (*engine.Engine, error) {
	if f.noCache && f.cacheDir != "" {
		return nil, &usageError{cmd, errors.New("--cache-dir and --no-cache exclude each other")}
	}
	dir := f.cacheDir
	if dir == "" && !f.noCache {
		if user, err := os.UserCacheDir(); err == nil {
			dir = filepath.Join(user, "weft")
		} else {
			log.Info("compiled plugins are not kept", "error", err)
		}
	}
	return engine.New(engine.Options{CacheDir: dir, Logger: log}), nil
}

// patience is how long a plugin may load, or a tool server start, before a line tells that it does.
const patience = time.Second

// progress prints one line for each plugin and each tool server that takes a while.
type progress struct {
	w  io.Writer
	mu sync.Mutex
}

// loading starts the clock for one plugin; what it returns stops it.
func (p *progress) loading(file string) func() {
	return p.begin("loading " + file + "; the first time, it is compiled")
}

// starting starts the clock for one tool server; what it returns stops it.
func (p *progress) starting(sourceID string) func() {
	return p.begin("waiting for the tool server " + sourceID)
}

func (p *progress) begin(what string) func() {
	over := false
	timer := time.AfterFunc(patience, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if !over {
			fmt.Fprintf(p.w, "weft: %s\n", printable(what))
		}
	})
	return func() {
		timer.Stop()
		p.mu.Lock()
		defer p.mu.Unlock()
		over = true
	}
}
