package wasm

import (
	"slices"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host/wasm/engine"
)

// Uses are the hooks that a module exports and the functions that it imports, as far as they need rights: what it could
// make use of. Whether it does, only its calls show.
type Uses struct {
	// Layer is where the plugin stands: empty, or [abi.LayerContext], among the providers.
	Layer abi.Layer
	// Hooks are those that are called there.
	Hooks []abi.Hook
	// Functions are imported host functions (clauses HF-1 to HF-16), and those of WASI that open and list files.
	Functions []string
}

// UsesOf reads what a module could make use of where it stands.
func UsesOf(info *engine.Info, layer abi.Layer) Uses {
	u := Uses{Layer: layer}
	for _, h := range abi.Hooks {
		if (u.provides() || slices.Contains(abi.MiddlewareHooks, h)) && info.Callable(string(h)) {
			u.Hooks = append(u.Hooks, h)
		}
	}
	for _, i := range info.Imports {
		relevant := i.Module == "extism:host/user" ||
			i.Module == "extism:host/env" && i.Name == "http_request" ||
			i.Module == "wasi_snapshot_preview1" && slices.Contains(fileFunctions, i.Name)
		if relevant && !slices.Contains(u.Functions, i.Name) {
			u.Functions = append(u.Functions, i.Name)
		}
	}
	return u
}

// provides reports whether the plugin stands among the providers.
func (u Uses) provides() bool { return u.Layer == "" || u.Layer == abi.LayerContext }

// fileFunctions are the functions of WASI that find what is in a folder.
var fileFunctions = []string{"path_open", "path_filestat_get", "path_readlink", "fd_readdir"}

// Hooks by what they get and may return (abi.md, Input, Output).
var (
	runHooks  = []string{"before_run", "after_run", "run_failed", "process"}
	loopHooks = []string{"before_iteration", "before_tools", "before_function", "after_function", "after_iteration"}
)

// usesOf are the hooks and functions by which a right can be made use of. With none of them it gives nothing.
func usesOf(r right) []string {
	switch r.list {
	case "read":
		return readUses(r.word)
	case "add":
		if r.word == "metadata" {
			return slices.Concat(runHooks, loopHooks)
		}
		return []string{"before_run", "process"}
	case "roles":
		return []string{"before_run", "process"}
	case "change":
		if r.word == "result" {
			return []string{"process", "on_update", "before_iteration", "before_tools", "before_function", "after_function"}
		}
		return []string{"call_next"}
	case "middleware":
		if r.word == string(abi.LayerContext) || r.word == string(abi.LayerFunction) {
			return []string{"process"}
		}
		return []string{"process", "on_update"}
	case "kv":
		return []string{"kv_get", "kv_set", "kv_delete", "kv_list"}
	case "search":
		if r.detail == "rw" {
			return []string{"index_put", "index_delete"}
		}
		return []string{"search", "index_put", "index_delete"}
	case "http":
		return []string{"http_request"}
	case "files":
		return fileFunctions
	case "events":
		return []string{r.word}
	}
	return []string{r.list} // complete and embed are the functions' names
}

func readUses(part string) []string {
	switch part {
	case "input":
		return append([]string{"get_messages"}, runHooks...)
	case "options":
		return runHooks
	case "response":
		return []string{"get_messages", "after_run", "process", "on_update", "before_iteration", "before_tools", "after_iteration"}
	case "request":
		return []string{"get_messages", "process", "before_iteration", "before_tools"}
	case "calls":
		return append([]string{"process"}, loopHooks[1:]...)
	case "metadata":
		return slices.Concat(runHooks, loopHooks)
	}
	return slices.Concat([]string{"get_messages"}, runHooks, loopHooks)
}

// of are the hooks and functions of a module by which a right can be made use of.
func (u Uses) of(r right) []string {
	if (r.list == "add" || r.list == "roles") && !u.provides() {
		return nil // middleware has no such effects (clause OUT-3)
	}
	var by []string
	for _, name := range usesOf(r) {
		if slices.Contains(u.Functions, name) || slices.Contains(u.Hooks, abi.Hook(name)) {
			by = append(by, name)
		}
	}
	return by
}

// denied are the host functions that are imported and that no right of a list allows: each call of them is refused.
func (u Uses) denied(all []right) []string {
	var names []string
	for _, name := range u.Functions {
		list, needed := functionRights[name]
		allows := func(r right) bool {
			return r.list == list && (list != "events" || r.word == name) && (name != "index_put" && name != "index_delete" || r.detail == "rw")
		}
		if needed && !slices.ContainsFunc(all, allows) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// functionRights are the members of a grant that host functions need.
var functionRights = map[string]string{
	"kv_get": "kv", "kv_set": "kv", "kv_delete": "kv", "kv_list": "kv", "complete": "complete", "embed": "embed",
	"search": "search", "index_put": "search", "index_delete": "search", "emit": "events", "request": "events", "http_request": "http",
}
