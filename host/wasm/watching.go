package wasm

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host/wasm/engine"
	"github.com/weft-run/weft/host/wasm/watch"
)

// Watch has the plugin follow its file, and the folders that it was granted to read if it has an init: a new version takes
// over as with [Plugin.Reload], a changed folder has init run again as with [Plugin.Restart]. A folder that the plugin may
// write is not followed: its own writes would have it run init without end. What becomes of it is told to
// [Config.OnReload] and logged. stop ends that; it does not wait for a reload that is under way. A plugin that came as bytes
// has its folders watched alone.
func (p *Plugin) Watch(ctx context.Context, w *watch.Watcher) (stop func(), err error) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stops := []func(){cancel}
	stop = func() {
		for _, s := range stops {
			s()
		}
	}
	defer func() {
		if err != nil {
			stop()
		}
	}()
	c := p.configuration()
	if c.Path != "" {
		limit := c.Limits.Module
		if limit == 0 {
			limit = engine.DefaultLimits(true).Module
		}
		var have [32]byte
		if _, err := hex.Decode(have[:], []byte(p.current.Load().digest)); err != nil {
			return nil, err
		}
		s, err := w.File(c.Path, limit, have, func(f watch.File) { p.fileChanged(work, f) })
		if err != nil {
			return nil, fmt.Errorf("plugin %s cannot be watched: %w", p.sourceID, err)
		}
		stops = append(stops, s)
	}
	if !p.current.Load().can(abi.HookInit) {
		return stop, nil
	}
	for _, folder := range c.Grants.Files {
		if folder.Mode == "rw" {
			continue
		}
		have, err := w.FolderDigest(ctx, folder.Host)
		if err != nil {
			return nil, fmt.Errorf("plugin %s: its folder %s cannot be watched: %w", p.sourceID, folder.Host, err)
		}
		s, err := w.Folder(folder.Host, have, func(f watch.Folder) { p.folderChanged(work, f) })
		if err != nil {
			return nil, fmt.Errorf("plugin %s: its folder %s cannot be watched: %w", p.sourceID, folder.Host, err)
		}
		stops = append(stops, s)
	}
	return stop, nil
}

// fileChanged takes over what the plugin's file holds now. The bytes were read once: what is hashed is what is run.
func (p *Plugin) fileChanged(ctx context.Context, f watch.File) {
	p.reloading.Lock()
	defer p.reloading.Unlock()
	if ctx.Err() != nil {
		return
	}
	if f.Err != nil {
		what := f.Err.Error()
		if errors.Is(f.Err, fs.ErrNotExist) {
			what = "the file is gone; the version in use keeps serving until there is another"
		}
		_ = p.refuse(ctx, &LoadError{Plugin: f.Path, Faults: []Fault{{What: what}}}, "") // it was told
		return
	}
	_, _ = p.takeOver(ctx, p.configuration(), slices.Clip(f.Data), false) // what went wrong was told
}

// folderChanged has init run again on what the folder holds now.
func (p *Plugin) folderChanged(ctx context.Context, f watch.Folder) {
	p.reloading.Lock()
	defer p.reloading.Unlock()
	switch {
	case ctx.Err() != nil:
	case f.Err != nil:
		_ = p.refuse(ctx, &LoadError{Plugin: p.sourceID, Faults: []Fault{{What: "a folder that it was granted: " + f.Err.Error()}}}, "")
	default:
		_, _ = p.takeOver(ctx, p.configuration(), nil, true) // what went wrong was told
	}
}
