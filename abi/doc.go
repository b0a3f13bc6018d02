// Package abi is the contract between host and plugin as Go types. abi.md is the same in prose, clause by clause;
// schema.json is the same as JSON Schema; testdata holds transcripts of whole calls.
//
//	out, err := abi.DecodeOut(abi.HookBeforeRun, bytes, abi.DefaultCaps())
//
// The package knows no host and no WebAssembly: a host, a kit that tests plugins, or a plugin's own tests can use it.
package abi
