package config

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/weft-run/weft/host/index"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/host/wasm/watch"
)

// follower has what changes in a config reach the plugins that were built of it. What a plugin may do and cost, its own
// config and its file take over like a new version; for all else the config has to be built anew.
type follower struct {
	built   *Built
	options BuildOptions
	file    string
	// form is that of what is in effect.
	form form
	// untold is what was told last of what is not in effect.
	untold string
	// closing is over when the watching ends, which cancel has it do.
	closing context.Context
	cancel  context.CancelFunc

	mu     sync.Mutex
	closed bool
	stops  []func() // of the plugins, in their order
}

// watch has the plugins follow their files, the indexes their folders, and where the config came from a file, all of them the
// config.
func (f *follower) watch(ctx context.Context, c *Config) error {
	var errs []error
	for n, p := range f.built.Plugins {
		errs = append(errs, f.watchPlugin(ctx, n, p))
	}
	for _, i := range c.Indexes {
		if f.built.services.indexes[i.Name] == nil || i.Folder == "" {
			continue
		}
		// What changed between the first reading and this is delivered, too.
		_, err := f.built.watcher.Folder(i.Folder, [sha256.Size]byte{}, func(w watch.Folder) { f.refill(i, w) })
		errs = append(errs, err)
	}
	if c.source != nil {
		_, err := f.built.watcher.File(c.File, maxSize, sha256.Sum256(c.source), f.changed)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// watchPlugin has a plugin follow its file, and no longer the one before.
func (f *follower) watchPlugin(ctx context.Context, n int, p *wasm.Plugin) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stops[n] != nil {
		f.stops[n]()
		f.stops[n] = nil
	}
	if f.closed {
		return nil
	}
	stop, err := p.Watch(ctx, f.built.watcher)
	f.stops[n] = stop
	return err
}

// stop ends the reloads that are under way, and has no other begin.
func (f *follower) stop() {
	f.cancel() // also of one that holds the lock, and reads a large folder
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for _, stop := range f.stops {
		if stop != nil {
			stop()
		}
	}
}

// refill has an index follow its folder.
func (f *follower) refill(i Index, folder watch.Folder) {
	log := cmp.Or(f.options.Logger, slog.Default())
	stats, err := index.FolderStats{}, folder.Err
	if err == nil {
		stats, err = i.fill(f.closing, f.built.services.indexes[i.Name], f.options.Logger)
	}
	switch {
	case f.closing.Err() != nil:
	case err != nil:
		log.ErrorContext(f.closing, "an index cannot follow its folder; it keeps what it has", "index", i.Name, "folder", i.Folder, "error", err)
	case stats.Indexed+stats.Removed > 0:
		log.InfoContext(f.closing, "an index follows its folder", "index", i.Name, "files", stats.Files, "indexed", stats.Indexed, "removed", stats.Removed)
	}
}

// changed takes over what the config says now of its plugins.
func (f *follower) changed(file watch.File) {
	ctx := f.closing
	if ctx.Err() != nil {
		return
	}
	if file.Err != nil {
		f.tell(ctx, fmt.Errorf("%s cannot be read: %w", f.file, file.Err))
		return
	}
	next, err := Parse(f.file, file.Data)
	if err != nil {
		f.tell(ctx, err)
		return
	}
	form := formOf(file.Data)
	var untold []error
	if different := f.form.differences(form); len(different) > 0 {
		untold = append(untold, fmt.Errorf("%s: other than the settings of plugins, %s changed: restart to use what it says",
			f.file, strings.Join(different, ", ")))
		if slices.Contains(different, "providers") || slices.Contains(different, "middleware") {
			f.tell(ctx, untold...) // and which plugin an entry was, cannot be said
			return
		}
	}
	for n, entry := range next.Plugins() {
		if form.settings[n] == f.form.settings[n] {
			continue
		}
		taken, err := f.replace(ctx, n, entry)
		if taken {
			f.form.settings[n] = form.settings[n]
		}
		if err != nil {
			untold = append(untold, err)
		}
	}
	f.tell(ctx, untold...)
}

// replace has a plugin take over what its entry says now, and reports whether it did. Where that cannot be used, the plugin
// stays as it is. What it has against it, it tells by itself; the error is what else is in the way.
func (f *follower) replace(ctx context.Context, n int, entry *Plugin) (taken bool, err error) {
	plugin := f.built.Plugins[n]
	ready, err := f.built.services.ready(entry, f.options, &collector{file: f.file})
	if err != nil || plugin.Replace(ctx, ready) != nil {
		return false, err
	}
	return true, f.watchPlugin(ctx, n, plugin)
}

// tell tells what of a change is not in effect, once for the same; nothing ends that.
func (f *follower) tell(ctx context.Context, all ...error) {
	err := errors.Join(all...)
	if err == nil {
		f.untold = ""
		return
	}
	if err.Error() == f.untold || ctx.Err() != nil {
		return
	}
	f.untold = err.Error()
	cmp.Or(f.options.Logger, slog.Default()).ErrorContext(ctx, "the config changed, and is not in effect; the one in use stays", "file", f.file, "error", err)
	if f.options.Reloaded != nil {
		f.options.Reloaded(wasm.Reloaded{File: f.file, Err: err})
	}
}

// form is what a config says, in a form in which two that say the same are equal.
type form struct {
	// parts are the values of its keys, where the entries of plugins have only what cannot change under way.
	parts map[string]string
	// settings are what can, of the plugins in the order of [Config.Plugins].
	settings []string
}

// staying are the keys of a plugin's entry that say which plugin it is and where it stands.
var staying = []string{"source_id", "layer"}

// formOf is the form of a config that has no faults.
func formOf(source []byte) form {
	f := form{parts: map[string]string{}}
	root := parseYAML(&collector{}, source)
	if root == nil {
		return f
	}
	for _, e := range root.entries {
		f.parts[e.key] = string(e.value.appendForm(nil, anyKey))
	}
	for _, key := range []string{"providers", "middleware"} {
		list, ok := root.find(key)
		if !ok {
			continue
		}
		var b []byte
		for _, item := range list.value.items {
			if _, ok := item.find("plugin"); !ok {
				b = item.appendForm(b, anyKey)
				continue
			}
			b = item.appendForm(append(b, "plugin"...), func(key string) bool { return slices.Contains(staying, key) })
			f.settings = append(f.settings, string(item.appendForm(nil, func(key string) bool { return !slices.Contains(staying, key) })))
		}
		f.parts[key] = string(b)
	}
	return f
}

// differences are the keys in which two configs differ, beyond the settings of plugins.
func (f form) differences(other form) []string {
	keys := map[string]bool{}
	for _, parts := range []map[string]string{f.parts, other.parts} {
		for key := range parts {
			if f.parts[key] != other.parts[key] {
				keys[key] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

func anyKey(string) bool { return true }

// appendForm appends a value in a form that is the same wherever it stands, and whatever order its keys are in. Of a mapping
// it takes some of the keys.
func (n *node) appendForm(b []byte, take func(key string) bool) []byte {
	b = fmt.Appendf(b, "%s%q(", n.kind, n.text)
	for _, item := range n.items {
		b = item.appendForm(b, anyKey)
	}
	for _, e := range slices.SortedFunc(slices.Values(n.entries), func(a, b entry) int { return cmp.Compare(a.key, b.key) }) {
		if take(e.key) {
			b = e.value.appendForm(fmt.Appendf(b, "%q:", e.key), anyKey)
		}
	}
	return append(b, ')')
}
