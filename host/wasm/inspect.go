package wasm

import (
	"context"
	"slices"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host/wasm/engine"
)

// Inspection is what can be known of a plugin's entry before it is used.
type Inspection struct {
	// Description is what the plugin says of itself.
	Description abi.Description
	// SourceID is the name that it would have, and Layer where it would stand.
	SourceID string
	Layer    abi.Layer
	// Grants are the rights that it would have, and Audit compares them with those that it asks for.
	Grants abi.Grants
	Audit  Audit
	// Faults are the reasons for which it would not load, but for what only its init, the services of the host and the values
	// of its secrets could tell.
	Faults []Fault
}

// Inspect checks a plugin as [Load] does, but runs no more of it than its start and its describe. What is wrong with the
// plugin is among the faults; the error is for what keeps it from being read or run at all, and for ctx.
func Inspect(ctx context.Context, e *engine.Engine, c Config) (*Inspection, error) {
	l := &loader{config: c, name: pluginName(c)}
	l.checkConfig()
	module, err := l.read()
	if err != nil {
		return nil, err
	}
	v := &version{
		sourceID: l.config.SourceID, name: l.name, exported: l.checkExports(module), config: l.config.Config,
		grants: l.config.Grants.effective(), limits: l.config.Limits.withDefaults(),
	}
	if v.sourceID == "" {
		v.sourceID = idFromPath(l.config.Path)
	}
	m, err := e.Load(ctx, module, engine.Spec{Name: l.name, Limits: l.config.Limits.engine(), Functions: functions()})
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		_ = l.withEngine(err) // which adds to the faults
		return &Inspection{SourceID: v.sourceID, Layer: l.config.Layer, Grants: v.grants, Faults: l.faults}, nil
	}
	v.module = m
	defer func() { _ = v.close(context.WithoutCancel(ctx)) }() // nothing is under way, so there is nothing to wait for
	if v.can(abi.HookDescribe) {
		d, err := describe(ctx, m, l.name, v.limits.CPU)
		switch {
		case ctx.Err() != nil:
			return nil, err
		case err != nil:
			l.fault("", "describe: %v", err)
		default:
			v.description = *d
		}
	}
	if v.description.SourceID != "" && l.config.SourceID == "" {
		v.sourceID = v.description.SourceID
	}
	l.place(v)
	l.checkDescription(v)
	asked, _ := v.asked() // what is wrong is among the faults
	return &Inspection{
		Description: v.description, SourceID: v.sourceID, Layer: v.layer, Grants: v.grants, Faults: l.faults,
		Audit: Compare(asked, v.grants, UsesOf(m.Info(), v.layer)),
	}, nil
}

// Audit holds the rights that a plugin asks for, those that it is given and those that it could use side by side.
type Audit struct {
	// Rights are all that it asks for or is given, in the order of clause GRA-1.
	Rights []AuditedRight
	// Missing are the lines to add to its entry, below grant, so that it is given all that it asks for.
	Missing []string
	// Denied are the host functions that it imports and has no right to.
	Denied []string
}

// AuditedRight is one right.
type AuditedRight struct {
	// Name is the right in a few words, such as "kv session".
	Name string
	// Asked says that the plugin asks for it, Given that it is given, and Default that it would be if nothing were said.
	Asked, Given, Default bool
	// Uses are the hooks that the plugin exports, and the functions that it imports, by which it could make use of it.
	Uses []string
}

// Compare holds what a plugin asks for (nil for nothing) against what it is given and what its module could use.
func Compare(asked *abi.Grants, given abi.Grants, uses Uses) Audit {
	if asked == nil {
		asked = &abi.Grants{}
	}
	wants, has, defaults := rights(*asked), rights(given), rights(abi.DefaultGrants())
	all := slices.Clone(has)
	for _, r := range wants {
		if !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(x, y right) int {
		return slices.Index(grantMembers, x.list) - slices.Index(grantMembers, y.list)
	})
	a := Audit{Missing: missing(asked, &given), Denied: uses.denied(has)}
	for _, r := range all {
		a.Rights = append(a.Rights, AuditedRight{
			Name: r.String(), Asked: covered(wants, r), Given: covered(has, r), Default: covered(defaults, r), Uses: uses.of(r),
		})
	}
	return a
}

// grantMembers are the members of a grant in the order of clause GRA-1.
var grantMembers = []string{
	"read", "add", "roles", "change", "middleware", "kv", "complete", "embed", "search", "events", "http", "files",
}

// NotAsked are the rights that are given, and not by default, though the plugin does not ask for them.
func (a Audit) NotAsked() []string {
	return a.names(func(r AuditedRight) bool { return r.Given && !r.Asked && !r.Default })
}

// Unused are the rights that are given, and not by default, though nothing in the module could make use of them.
func (a Audit) Unused() []string {
	return a.names(func(r AuditedRight) bool { return r.Given && r.Uses == nil && !r.Default })
}

func (a Audit) names(which func(AuditedRight) bool) []string {
	var names []string
	for _, r := range a.Rights {
		if which(r) {
			names = append(names, r.Name)
		}
	}
	return names
}
