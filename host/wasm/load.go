package wasm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm/engine"
	"github.com/weft-run/weft/internal/regularfile"
)

// Load checks a plugin against the contract, compiles it, and runs its describe and its init. What can be found out together
// is reported together, as a [*LoadError]. The engine is used until the plugin is closed.
func Load(ctx context.Context, e *engine.Engine, c Config) (*Plugin, error) {
	p := &Plugin{engine: e}
	l := &loader{config: c, name: pluginName(c), told: p.rests}
	v, err := l.version(ctx, e)
	if err != nil {
		return nil, err
	}
	p.sourceID, p.layer, p.told, p.bytes = v.sourceID, v.layer, p.rests, c.Module
	p.config = l.config
	p.config.Module = nil // the engine keeps what it needs of it
	if c.Path != "" {
		p.bytes = nil
	}
	p.current.Store(v)
	return p, nil
}

// version loads one version. What went wrong is a [*LoadError], unless ctx is over.
func (l *loader) version(ctx context.Context, e *engine.Engine) (*version, error) {
	v, err := l.load(ctx, e)
	if err == nil {
		return v, nil
	}
	if _, refused := errors.AsType[*LoadError](err); refused || ctx.Err() != nil {
		return nil, err
	}
	return nil, &LoadError{Plugin: l.name, Err: err}
}

// pluginName is what errors call a plugin before it has a source id.
func pluginName(c Config) string {
	switch {
	case c.Path != "":
		return c.Path
	case c.SourceID != "":
		return c.SourceID
	}
	return "(from memory)"
}

// loader collects what is wrong with one plugin.
type loader struct {
	config Config
	name   string
	told   func(resting bool)
	inUse  *version // that serves meanwhile, where this one is to take over
	digest [sha256.Size]byte
	faults []Fault
}

func (l *loader) fault(remedy, format string, args ...any) {
	l.faults = append(l.faults, Fault{What: fmt.Sprintf(format, args...), Remedy: remedy})
}

func (l *loader) refused(err error) error {
	if len(l.faults) == 0 && err == nil {
		return nil
	}
	return &LoadError{Plugin: l.name, Faults: l.faults, Err: err}
}

func (l *loader) load(ctx context.Context, e *engine.Engine) (*version, error) {
	l.checkConfig()
	module, err := l.read()
	if err != nil {
		l.fault("", "%v", err)
		return nil, l.refused(err)
	}
	exported := l.checkExports(module)
	l.checkServices()

	sourceID := l.config.SourceID
	if sourceID == "" {
		sourceID = idFromPath(l.config.Path)
	}
	grants := l.config.Grants.effective()
	spec := engine.Spec{
		Name: l.name, Limits: l.config.Limits.engine(), Mounts: l.mounts(), Shared: l.config.Shared,
		World: engine.World{Now: l.config.Now}, Functions: functions(), HTTP: l.http(grants), Resting: l.told, Background: l.inUse != nil,
	}
	// What the module itself has wrong is told together with what is wrong around it.
	if len(l.faults) > 0 {
		if err := e.Check(module, spec); err != nil {
			return nil, l.withEngine(err)
		}
		return nil, l.refused(nil)
	}
	m, err := e.Load(ctx, module, spec)
	if err != nil {
		closeIdle(spec.HTTP) // its start may have sent requests
		return nil, l.withEngine(err)
	}
	v := &version{
		sourceID: sourceID, name: l.name, digest: hex.EncodeToString(l.digest[:]), module: m, exported: exported,
		config: l.config.Config, grants: grants, limits: l.config.Limits.withDefaults(), policy: l.config.OnError,
		services: l.config.Services, http: spec.HTTP, log: l.config.Logger, onLog: l.config.OnLog,
		turns: &turns{},
	}
	if err := l.introduce(ctx, v); err != nil {
		return nil, errors.Join(err, v.close(context.WithoutCancel(ctx)))
	}
	v.asProvider = v.made()
	m.Trim() // a plugin that nobody uses holds no instance
	return v, nil
}

// checkConfig puts defaults into the config and checks what needs no module.
func (l *loader) checkConfig() {
	c := &l.config
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.OnError == "" {
		c.OnError = host.OnErrorFail
	}
	if c.OnError != host.OnErrorFail && c.OnError != host.OnErrorSkip {
		l.fault("", "on_error %q is not one of fail, skip", c.OnError)
	}
	if len(c.Config) == 0 {
		c.Config = []byte("{}")
	}
	if err := checkJSONObject(c.Config); err != nil {
		l.fault("", "its config must be a JSON object: %v", err)
	}
	grants := c.Grants.effective()
	if err := grants.Check(); err != nil {
		l.fault("", "grant: %v", err)
	}
	if c.Layer != "" && !slices.Contains(abi.Layers, c.Layer) {
		l.fault("", "layer %q is not one of %s", c.Layer, texts(abi.Layers))
	}
	if c.Middleware && c.Layer == abi.LayerContext {
		l.fault("put it into the list of providers", "middleware stands at one of the layers agent, chat and function, and not at context")
	}
	for _, f := range c.Grants.Files {
		if info, err := os.Stat(f.Host); err != nil {
			l.fault("make the folder, or name another", "grant: files: folder %s cannot be used: %v", f.Host, err)
		} else if !info.IsDir() {
			l.fault("name a folder", "grant: files: %s is no folder", f.Host)
		}
	}
}

// read returns the module's bytes, read once.
func (l *loader) read() ([]byte, error) {
	module := l.config.Module
	if module == nil {
		if l.config.Path == "" {
			return nil, errors.New("neither Path nor Module is set")
		}
		var err error
		if module, err = readModule(l.config.Path, l.config.Limits.Module); err != nil {
			return nil, err
		}
	}
	l.digest = sha256.Sum256(module)
	if want := l.config.SHA256; want != "" {
		if have := hex.EncodeToString(l.digest[:]); have != strings.ToLower(want) {
			if raw, err := hex.DecodeString(want); err != nil || len(raw) != sha256.Size {
				l.fault("", "sha256 %q is no SHA-256: 64 hex digits were wanted", want)
			} else {
				l.fault("get the file that the digest belongs to, or pin the new one if you trust it",
					"the file's sha256 is %s, and %s was pinned", have, want)
			}
		}
	}
	return module, nil
}

// readModule reads a regular file of at most the module limit, and one byte more, so that the engine sees that it is too
// large.
func readModule(path string, limit int64) ([]byte, error) {
	if limit == 0 {
		limit = engine.DefaultLimits(true).Module
	}
	module, err := regularfile.Read(path, limit)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("there is no file %s: check the path, or build the plugin first", path)
	case errors.Is(err, regularfile.ErrNotRegular):
		return nil, fmt.Errorf("%s is no regular file: name the plugin's .wasm file", path)
	}
	return module, err
}

// checkExports finds the hooks among the exports (clauses EXP-1 to EXP-3). A module that cannot be read is left to the
// engine, which tells why.
func (l *loader) checkExports(module []byte) []abi.Hook {
	info, err := engine.Inspect(module)
	if err != nil {
		return nil
	}
	var hooks []abi.Hook
	for _, e := range info.Exports {
		if !slices.Contains(abi.Hooks, abi.Hook(e.Name)) {
			continue
		}
		if !callable(e) {
			l.fault("export it as a function without parameters that returns an i32, 0 for done",
				"export %s is %s; () -> i32 was wanted", e.Name, signature(e))
			continue
		}
		hooks = append(hooks, abi.Hook(e.Name))
	}
	wanted, remedy := abi.ProviderHooks, "export before_run: () -> i32"
	if l.config.Middleware {
		wanted, remedy = abi.MiddlewareHooks, "export process: () -> i32, or put it into the list of providers"
	}
	if len(l.faults) == 0 && !slices.ContainsFunc(hooks, func(h abi.Hook) bool { return slices.Contains(wanted, h) }) {
		l.fault(remedy, "it exports no hook that is called here; at least one of %s was wanted, and there is %s",
			names(wanted), exportNames(info.Exports))
	}
	return hooks
}

func callable(e engine.Export) bool {
	return e.Kind == "func" && len(e.Params) == 0 && len(e.Results) == 1 && e.Results[0] == "i32"
}

func signature(e engine.Export) string {
	if e.Kind != "func" {
		return "a " + e.Kind
	}
	result := "nothing"
	if len(e.Results) > 0 {
		result = strings.Join(e.Results, ", ")
	}
	return "(" + strings.Join(e.Params, ", ") + ") -> " + result
}

func exportNames(exports []engine.Export) string {
	var list []string
	for _, e := range exports {
		if e.Kind == "func" {
			list = append(list, e.Name)
		}
	}
	switch n := len(list); {
	case n == 0:
		return "no function"
	case n > 8:
		return strings.Join(list[:8], ", ") + ", …"
	}
	return strings.Join(list, ", ")
}

func (l *loader) mounts() []engine.Mount {
	mounts := make([]engine.Mount, len(l.config.Grants.Files))
	for i, f := range l.config.Grants.Files {
		mounts[i] = engine.Mount{Host: f.Host, Guest: f.Guest, Writable: f.Mode == "rw"}
	}
	return mounts
}

// withEngine joins what the engine has against the module with what was found before.
func (l *loader) withEngine(err error) error {
	var refused *engine.LoadError
	if errors.As(withRemedies(err), &refused) {
		for _, f := range refused.Faults {
			l.faults = append(l.faults, Fault{What: strings.TrimSuffix(f.String(), ": "+f.Remedy), Remedy: f.Remedy})
		}
	} else {
		l.fault("", "%s", strings.TrimPrefix(err.Error(), l.name+": "))
	}
	return l.refused(err)
}

// withRemedies has the engine's error name no option that an entry does not have: the limits on the code of a module are
// the host's.
func withRemedies(err error) error {
	var refused *engine.LoadError
	if errors.As(err, &refused) {
		for i, f := range refused.Faults {
			if f.Limit != "" && f.Limit != "module" && f.Limit != "memory" {
				refused.Faults[i].Remedy = "no option changes this: build it for size, and without what it does not need"
			}
		}
	}
	return err
}

// idFromPath is the source id of a plugin that nobody named: its file's name in snake_case.
func idFromPath(path string) string {
	base := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '_'
	}, base)
}

func names(hooks []abi.Hook) string {
	list := make([]string, len(hooks))
	for i, h := range hooks {
		list[i] = string(h)
	}
	return strings.Join(list, ", ")
}
