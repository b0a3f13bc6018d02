package wasm

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host/kv"
)

// kvGet reads one key (clause HF-4).
func kvGet(ctx context.Context, c *call, input []byte) ([]byte, error) {
	const name = "kv_get"
	in, err := readInput(c, name, input, abi.DecodeKVGet)
	if err != nil {
		return nil, err
	}
	ns, err := c.namespace(name, in.Scope)
	if err != nil {
		return nil, err
	}
	entry, found, err := c.version.services.KV.Get(ctx, ns, in.Key)
	if err != nil {
		return nil, c.storeError(ctx, name, err)
	}
	out := newAnswer()
	out.either("found", found)
	if found {
		out.entry(entry)
	}
	return c.answer(name, out)
}

// kvSet writes one key (clause HF-5).
func kvSet(ctx context.Context, c *call, input []byte) ([]byte, error) {
	const name = "kv_set"
	in, err := readInput(c, name, input, abi.DecodeKVSet)
	if err != nil {
		return nil, err
	}
	ns, err := c.namespace(name, in.Scope)
	if err != nil {
		return nil, err
	}
	l := &c.version.limits
	version, err := c.version.services.KV.Set(ctx, ns, in.Key, in.Value, kv.SetOptions{
		IfVersion: in.IfVersion, TTL: time.Duration(in.TTL) * time.Second,
		Limits: kv.Limits{Value: l.KVValue, Total: l.KVTotal, Keys: int64(l.KVKeys)},
	})
	if err != nil {
		return nil, c.storeError(ctx, name, err)
	}
	out := newAnswer()
	out.version(version)
	return c.answer(name, out)
}

// kvDelete removes one key (clause HF-6).
func kvDelete(ctx context.Context, c *call, input []byte) ([]byte, error) {
	const name = "kv_delete"
	in, err := readInput(c, name, input, abi.DecodeKVDelete)
	if err != nil {
		return nil, err
	}
	ns, err := c.namespace(name, in.Scope)
	if err != nil {
		return nil, err
	}
	deleted, err := c.version.services.KV.Delete(ctx, ns, in.Key, in.IfVersion)
	if err != nil {
		return nil, c.storeError(ctx, name, err)
	}
	out := newAnswer()
	out.either("deleted", deleted)
	return c.answer(name, out)
}

// kvList lists keys in the order of their bytes (clause HF-7).
func kvList(ctx context.Context, c *call, input []byte) ([]byte, error) {
	const name = "kv_list"
	in, err := readInput(c, name, input, abi.DecodeKVList)
	if err != nil {
		return nil, err
	}
	ns, err := c.namespace(name, in.Scope)
	if err != nil {
		return nil, err
	}
	entries, more, err := c.version.services.KV.List(ctx, ns, kv.ListOptions{
		Prefix: in.Prefix, After: in.After, Limit: in.Limit, Values: in.Values,
	})
	if err != nil {
		return nil, c.storeError(ctx, name, err)
	}
	out := newAnswer()
	out.key("entries")
	out.b = append(out.b, '[')
	for i, e := range entries {
		if i > 0 {
			out.b = append(out.b, ',')
		}
		out.b = append(out.b, `{"key":`...)
		out.quote(e.Key)
		out.entry(e)
		out.b = append(out.b, '}')
	}
	out.b = append(out.b, ']')
	out.either("more", more)
	return c.answer(name, out)
}

// namespace says whose keys a call may name: the plugin's own, and nobody else's (clause HF-8).
func (c *call) namespace(function, scope string) (kv.Namespace, error) {
	v := c.version
	if !slices.Contains(v.grants.KV, scope) {
		return kv.Namespace{}, denied(function+" in the scope "+scope, listed("kv", v.grants.KV, scope))
	}
	ns := kv.Namespace{Agent: c.agent, Plugin: v.sourceID, Scope: scope}
	if scope == kv.ScopeSession {
		if c.session == nil || c.session.ForOneRun() {
			return kv.Namespace{}, notFound("%s: the run has no session, and so no scope session: use the scope agent", function)
		}
		ns.Session = c.session.ID()
	}
	return ns, nil
}

// storeError is what a plugin gets for an error of the store.
func (c *call) storeError(ctx context.Context, function string, err error) error {
	code := abi.CodeInvalidInput
	switch {
	case errors.Is(err, kv.ErrInvalid): // first, as one of several faults may be a limit
	case errors.Is(err, kv.ErrConflict):
		code = abi.CodeConflict
	case errors.Is(err, kv.ErrLimit):
		code = abi.CodeLimit
	default:
		return c.unavailable(ctx, function, "the store of keys", err)
	}
	return &abi.Error{Code: code, Message: function + ": " + err.Error()}
}

// entry adds the version of an entry, and its value where it is there.
func (v *view) entry(e kv.Entry) {
	if e.Value != nil {
		v.raw("value", e.Value)
	}
	v.version(e.Version)
}

func (v *view) version(n int64) {
	v.key("version")
	v.b = strconv.AppendInt(v.b, n, 10)
}
