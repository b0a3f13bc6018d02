package config

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/weft-run/weft/host/wasm/watch"
)

// Reload says what becomes of plugins when their files change, or what the config says of them.
type Reload struct {
	// Watch has new versions of plugins take over while the agent is used, and what the config's file says of them then. Nil
	// leaves it to [BuildOptions.Watch].
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

// watch has plugins follow their files and the config.
func (c *Config) watch(ctx context.Context, o BuildOptions, b *Built) error {
	settle := c.Reload.Settle
	w, err := watch.New(watch.Options{Settle: settle, MaxWait: max(2*time.Second, settle), Poll: pollInterval, Logger: o.Logger})
	if err != nil {
		return err
	}
	b.watcher = w
	closing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	b.follower = &follower{
		built: b, options: o, file: c.File, form: formOf(c.source), closing: closing, cancel: cancel,
		stops: make([]func(), len(b.Plugins)),
	}
	return b.follower.watch(ctx, c)
}

// stopWatching ends the reload that is under way, if there is one, and has no other begin.
func (b *Built) stopWatching() error {
	if b.watcher == nil {
		return nil
	}
	b.follower.stop()
	return b.watcher.Close()
}

// follow watches the plugins if config and options say so. Where only the options do, what cannot be watched is no error.
func (c *Config) follow(ctx context.Context, o BuildOptions, b *Built) error {
	asked := c.Reload.Watch != nil
	if asked && !*c.Reload.Watch || !asked && !o.Watch || len(b.Plugins) == 0 {
		return nil
	}
	err := c.watch(ctx, o, b)
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
	log.WarnContext(ctx, "not everything can be watched; what is not, is not taken over when it changes", "error", err)
	return nil
}
