;; Has a fault of each kind that has to do with imports and exports.
(module
  (import "env" "abort" (func (param i32 i32 i32 i32)))
  (import "wasi:cli/environment@0.2.0" "get-environment" (func (param i32)))
  (import "extism:host/env" "alloc" (func (param i32) (result i32)))
  (import "extism:host/user" "kv_get" (func (param i64) (result i64)))
  (import "wasi_snapshot_preview1" "fd_teleport" (func (param i32)))
  (import "env" "memory" (memory 1))
  (func (export "before_run") (result i32) (i32.const 0)))
