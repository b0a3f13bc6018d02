package config

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/weft-run/weft/host/wasm/watch"
)

// Reload says what becomes of plugins whose files change.
type Reload struct {
	// Watch has new versions of plugins take over while the agent is used. Nil leaves it to [BuildOptions.Watch].
	Watch *bool
	// Settle is how long a file must not have changed before it is read. 0 stands for 100 ms.
	Settle time.Duration
}

// reloadKeys are the keys of reload.
var reloadKeys = []key[Reload]{
	{"watch", func(d *decoder, n *node, r *Reload) { r.Watch = new(d.boolean(n)) }},
	{"settle", func(d *decoder, n *node, r *Reload) { r.Settle = d.boundedDuration(n) }},
}

// pollInterval is how often files are looked at where the system does not tell of changes.
const pollInterval = 2 * time.Second

// watchPlugins has plugins follow their files.
func (b *Built) watchPlugins(ctx context.Context, settle time.Duration, log *slog.Logger) error {
	w, err := watch.New(watch.Options{Settle: settle, MaxWait: max(2*time.Second, settle), Poll: pollInterval, Logger: log})
	if err != nil {
		return err
	}
	b.watcher = w
	var errs []error
	for _, p := range b.Plugins {
		stop, err := p.Watch(ctx, w)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		b.unwatch = append(b.unwatch, stop)
	}
	return errors.Join(errs...)
}

// stopWatching ends the reload that is under way, if there is one, and has no other begin.
func (b *Built) stopWatching() error {
	for _, stop := range b.unwatch {
		stop()
	}
	if b.watcher == nil {
		return nil
	}
	return b.watcher.Close()
}

// follow watches the plugins if config and options say so. Where only the options do, what cannot be watched is no error.
func (c *Config) follow(ctx context.Context, o BuildOptions, b *Built) error {
	asked := c.Reload.Watch != nil
	if asked && !*c.Reload.Watch || !asked && !o.Watch || len(b.Plugins) == 0 {
		return nil
	}
	err := b.watchPlugins(ctx, c.Reload.Settle, o.Logger)
	if err == nil {
		return nil
	}
	if asked {
		return fmt.Errorf("%s: reload: %w", c.File, err)
	}
	log := o.Logger
	if log == nil {
		log = slog.Default()
	}
	log.WarnContext(ctx, "not all plugins can be watched; those are not reloaded when their files change", "error", err)
	return nil
}
