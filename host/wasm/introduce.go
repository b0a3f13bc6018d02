package wasm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host/schema"
	"github.com/weft-run/weft/host/wasm/engine"
	"github.com/weft-run/weft/internal/strictjson"
)

// introduce lets a loaded plugin describe itself, holds what it says against what it was given, and runs its init.
func (l *loader) introduce(ctx context.Context, p *version) error {
	if p.can(abi.HookDescribe) {
		d, err := describe(ctx, p.module, l.name, p.limits.CPU)
		if err != nil {
			l.fault("", "describe: %v", err)
			return l.refused(err)
		}
		p.description = *d
		if l.config.SourceID == "" && d.SourceID != "" {
			p.sourceID = d.SourceID
		}
	}
	l.place(p)
	l.checkDescription(p)
	if p.sourceID == "" {
		l.fault("set source_id", "it has no name: none is given, none described, and it came without a file")
	}
	if err := l.refused(nil); err != nil {
		return err
	}
	if p.can(abi.HookInit) {
		if err := l.init(ctx, p); err != nil {
			l.fault("", "init: %v", err)
			return l.refused(err)
		}
	}
	return nil
}

// place finds out which hooks are called where the plugin stands (clause EXP-4).
func (l *loader) place(v *version) {
	wanted := abi.ProviderHooks
	v.layer = l.config.Layer
	if l.config.Middleware {
		wanted = abi.MiddlewareHooks
		if v.layer == "" {
			v.layer = l.layerOf(v)
		}
		if v.layer != "" && !v.grants.CanStand(v.layer) {
			v.grants.Middleware = append(v.grants.Middleware, v.layer) // the entry gives it
		}
	} else {
		v.layer = abi.LayerContext
	}
	hooks := v.can(abi.HookBeforeRun) || v.can(abi.HookAfterRun)
	for _, h := range v.exported {
		if slices.Contains(wanted, h) && (h != abi.HookProcess || l.config.Middleware || !hooks && v.stands(abi.LayerContext)) {
			v.hooks = append(v.hooks, h)
		}
	}
	if l.config.Middleware && v.can(abi.HookProcess) && v.layer != "" && !v.stands(v.layer) {
		l.fault("set layer to one of them", "its process stands at %s, and not at %s", strings.Join(texts(v.description.Layers), ", "), v.layer)
	}
	if v.layer == abi.LayerFunction && !v.can(abi.HookProcess) {
		l.fault("export process: () -> i32", "at the layer function nothing but process is called, and it exports none")
	}
	if len(v.hooks) == 0 && len(l.faults) == 0 {
		l.fault("put it into the list of middleware, with layer set", "its process stands at %s, and it has no hook of a provider",
			strings.Join(texts(v.description.Layers), ", "))
	}
}

// layerOf is the one layer of middleware that the plugin describes.
func (l *loader) layerOf(v *version) abi.Layer {
	layers := slices.DeleteFunc(slices.Clone(v.description.Layers), func(l abi.Layer) bool { return l == abi.LayerContext })
	if len(layers) == 1 {
		return layers[0]
	}
	have := "it describes none"
	if len(layers) > 1 {
		have = "it describes " + strings.Join(texts(layers), ", ")
	}
	l.fault("set layer to agent, chat or function", "the entry names no layer, and %s", have)
	return ""
}

// Describe loads a module without rights, only to ask what it says of itself. It is for tools such as `weft inspect`.
// A module that does not export describe gives an empty description.
func Describe(ctx context.Context, e *engine.Engine, module []byte) (abi.Description, error) {
	m, err := e.Load(ctx, module, engine.Spec{Name: "plugin", Functions: functions()})
	if err != nil {
		return abi.Description{}, withRemedies(err)
	}
	defer func() { _ = m.Close(context.WithoutCancel(ctx)) }() // nothing is under way, so there is nothing to wait for
	for _, e := range m.Info().Exports {
		if e.Name == string(abi.HookDescribe) && callable(e) {
			d, err := describe(ctx, m, "plugin", 0)
			if err != nil {
				return abi.Description{}, fmt.Errorf("describe: %w", err)
			}
			return *d, nil
		}
	}
	return abi.Description{}, nil
}

func describe(ctx context.Context, m *engine.Module, name string, limit time.Duration) (*abi.Description, error) {
	v := &view{}
	v.head(abi.HookDescribe)
	input, _ := v.done() // two constants
	result, err := m.Call(ctx, engine.Call{
		Export: string(abi.HookDescribe), Input: input, Timeout: limit, TimeoutOption: "limits.cpu",
	})
	if err == nil && result.Code != 0 {
		err = reportedFailure(result)
	}
	if err != nil {
		return nil, &CallError{Plugin: name, Hook: abi.HookDescribe, Err: err, Printed: result.Printed, module: name}
	}
	return abi.DecodeDescription(result.Output)
}

var sourceIDForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// checkDescription holds what a plugin asks for against what there is (clauses DSC-2 to DSC-6).
func (l *loader) checkDescription(p *version) {
	d := p.description
	if d.ABI > abi.Version {
		l.fault("update Weft, or use a version of the plugin for that ABI",
			"it was written for ABI %d, and this host speaks ABI %d", d.ABI, abi.Version)
	}
	for _, feature := range d.Requires {
		if !slices.Contains(abi.Features, feature) {
			l.fault("update Weft, or use a version of the plugin that does without",
				"it requires the feature %q, which this host does not have", feature)
		}
	}
	if d.SourceID != "" && !sourceIDForm.MatchString(d.SourceID) {
		l.fault("mend its describe", "its source_id %q is not snake_case of at most 64 letters", d.SourceID)
	}
	if err := checkSchema(d.ConfigSchema, l.config.Config); err != nil {
		l.fault("mend the plugin's config", "its config does not meet its schema: %v", err)
	}
	asked, err := p.asked()
	if err != nil {
		l.fault("mend the plugin's config", "%v", err)
	}
	if lines := missing(asked, &p.grants); lines != nil {
		l.fault("add to its entry, if it should have them:\ngrant:\n  "+strings.Join(lines, "\n  "),
			"it asks for rights that it was not given%s", l.since(asked))
	}
}

// since says what a new version asks for and the one in use does not, and the other way round; nothing where no version is in
// use.
func (l *loader) since(asked *abi.Grants) string {
	if l.inUse == nil {
		return ""
	}
	before, err := l.inUse.asked()
	if err != nil || before == nil {
		before = &abi.Grants{}
	}
	diff := GrantDiff(*before, *asked)
	if len(diff) == 0 {
		return ""
	}
	return "; against the version in use:\n  " + strings.Join(diff, "\n  ") + "\n"
}

func texts[T ~string](names []T) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = string(n)
	}
	return out
}

// schemaDepth and schemaSize bound a config schema, which comes from the plugin.
const (
	schemaDepth = 32
	schemaSize  = 64 << 10
)

// checkSchema holds the config against the plugin's schema. References are refused: a schema that refers to itself
// could keep the host busy for ever (clause DSC-5).
func checkSchema(schemaText, config []byte) error {
	if len(schemaText) == 0 {
		return nil
	}
	if len(schemaText) > schemaSize {
		return fmt.Errorf("the schema has %d bytes, more than %d", len(schemaText), schemaSize)
	}
	if _, err := strictjson.Decoder(schemaText, schemaDepth); err != nil {
		return fmt.Errorf("the schema: %w", err)
	}
	if word := reference(schemaText); word != "" {
		return fmt.Errorf("the schema uses %q, which a config schema may not", word)
	}
	parsed, err := schema.ParseWith(schemaText, schema.Limits{Bytes: schemaSize, Depth: schemaDepth})
	if err != nil {
		return fmt.Errorf("the schema is none: %w", err)
	}
	return parsed.Validate(config)
}

// referenceWords are the keywords of a schema that refer to another.
var referenceWords = []string{"$ref", "$dynamicRef", "$recursiveRef"}

// reference is the first of those words that is the name of a member, however it is written; empty for none.
func reference(schema []byte) string {
	dec := jsontext.NewDecoder(bytes.NewReader(schema))
	for {
		kind, n := dec.StackIndex(dec.StackDepth())
		token, err := dec.ReadToken()
		if err != nil {
			return "" // at the end; what is no JSON is found by others
		}
		if token.Kind() == '"' && kind == '{' && n%2 == 0 && slices.Contains(referenceWords, token.String()) {
			return token.String()
		}
	}
}

func checkJSONObject(data []byte) error {
	dec, err := strictjson.Decoder(data, abi.Depth)
	if err != nil {
		return err
	}
	if _, err := strictjson.RawObject(dec); err != nil {
		return strictjson.AsFault(err)
	}
	return strictjson.End(dec)
}

// init calls the plugin's init, once: every call starts from the memory that it leaves (clause LIF-3).
func (l *loader) init(ctx context.Context, p *version) error {
	v := &view{}
	v.head(abi.HookInit)
	v.text("source_id", p.sourceID)
	v.raw("config", p.config)
	grants, err := json.Marshal(p.grants)
	if err != nil {
		return err
	}
	v.raw("grants", grants)
	input, err := v.done()
	if err != nil {
		return err
	}
	result, err := p.module.Init(ctx, engine.Init{Export: string(abi.HookInit), Input: input}, p.logger(ctx, abi.HookInit))
	if err == nil && result.Code != 0 {
		err = reportedFailure(result)
	}
	if err == nil {
		var out *abi.Out
		if out, err = abi.DecodeOut(abi.HookInit, "", result.Output); err == nil && out.Error != nil {
			err = out.Error
		}
	}
	if err != nil {
		return &CallError{Plugin: p.sourceID, Hook: abi.HookInit, Err: err, Printed: result.Printed, module: p.name}
	}
	return nil
}
