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

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host/wasm/engine"
	"github.com/weft-run/weft/internal/strictjson"
	"github.com/weft-run/weft/message"
)

// introduce lets a loaded plugin describe itself, holds what it says against what it was given, and runs its init.
func (l *loader) introduce(ctx context.Context, p *Provider) error {
	if slices.Contains(p.hooks, abi.HookDescribe) {
		d, err := describe(ctx, p.module, l.name, p.limits.CPU)
		if err != nil {
			l.fault("", "describe: %v", err)
			return l.refused(err)
		}
		p.description = *d
		l.checkDescription(p)
		if l.config.SourceID == "" && d.SourceID != "" {
			p.sourceID = d.SourceID
		}
	}
	if p.sourceID == "" {
		l.fault("set source_id", "it has no name: none is given, none described, and it came without a file")
	}
	if err := l.refused(nil); err != nil {
		return err
	}
	if slices.Contains(p.hooks, abi.HookInit) {
		if err := l.init(ctx, p); err != nil {
			l.fault("", "init: %v", err)
			return l.refused(err)
		}
	}
	return nil
}

// Describe loads a module without rights, only to ask what it says of itself. It is for tools such as `weft inspect`.
// A module that does not export describe gives an empty description.
func Describe(ctx context.Context, e *engine.Engine, module []byte) (abi.Description, error) {
	m, err := e.Load(ctx, module, engine.Spec{Name: "plugin"})
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
func (l *loader) checkDescription(p *Provider) {
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
	if lines := missing(d.Grants, p.grants); lines != nil {
		l.fault("add to its entry, if it should have them:\ngrant:\n  "+strings.Join(lines, "\n  "),
			"it asks for rights that it was not given")
	}
}

// missing are the lines to add to a grant so that it holds all that is asked for; nil if it does already.
func missing(asked *abi.Grants, given abi.Grants) []string {
	if asked == nil {
		return nil
	}
	var lines []string
	list := func(name string, asked, given []string, covered func(string) bool) {
		var more []string
		for _, a := range asked {
			if !covered(a) && !slices.Contains(more, a) {
				more = append(more, a)
			}
		}
		if more == nil {
			return
		}
		all := append(slices.Clone(given), more...)
		for i, word := range all {
			if strings.ContainsAny(word, ":*") {
				all[i] = `"` + word + `"`
			}
		}
		lines = append(lines, fmt.Sprintf("%s: [%s]", name, strings.Join(all, ", ")))
	}
	list("read", asked.Read, given.Read, func(right string) bool {
		source, isContext := strings.CutPrefix(right, "context:")
		return given.CanRead(right) || isContext && given.CanReadSource(source)
	})
	list("add", asked.Add, given.Add, given.CanAdd)
	list("roles", texts(asked.Roles), texts(given.Roles), func(r string) bool {
		return slices.Contains(given.Roles, message.Role(r))
	})
	var folders []string
	for _, f := range asked.Files {
		if !slices.ContainsFunc(given.Files, func(g abi.FileGrant) bool { return g.Guest == f.Guest }) {
			folders = append(folders, fmt.Sprintf("  - {host: FOLDER, guest: %s, mode: ro}", f.Guest))
		}
	}
	if folders != nil {
		lines = append(append(lines, "files:"), folders...)
	}
	return lines
}

func texts(roles []message.Role) []string {
	out := make([]string, len(roles))
	for i, r := range roles {
		out[i] = string(r)
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
func checkSchema(schema, config []byte) error {
	if len(schema) == 0 {
		return nil
	}
	if len(schema) > schemaSize {
		return fmt.Errorf("the schema has %d bytes, more than %d", len(schema), schemaSize)
	}
	if _, err := strictjson.Decoder(schema, schemaDepth); err != nil {
		return fmt.Errorf("the schema: %w", err)
	}
	for _, word := range []string{`"$ref"`, `"$dynamicRef"`, `"$recursiveRef"`} {
		if bytes.Contains(schema, []byte(word)) {
			return fmt.Errorf("the schema uses %s, which a config schema may not", word)
		}
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return fmt.Errorf("the schema is none: %w", err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return fmt.Errorf("the schema is none: %w", err)
	}
	var value any
	if err := json.Unmarshal(config, &value); err != nil {
		return err
	}
	return resolved.Validate(value)
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
func (l *loader) init(ctx context.Context, p *Provider) error {
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
		if out, err = abi.DecodeOut(abi.HookInit, result.Output); err == nil && out.Error != nil {
			err = out.Error
		}
	}
	if err != nil {
		return &CallError{Plugin: p.sourceID, Hook: abi.HookInit, Err: err, Printed: result.Printed, module: p.name}
	}
	return nil
}
