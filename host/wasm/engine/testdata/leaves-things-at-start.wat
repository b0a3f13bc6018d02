;; Leaves an error and a var with the host in its start function.
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
  (import "extism:host/env" "error_set" (func $error_set (param i64)))
  (import "extism:host/env" "var_set" (func $var_set (param i64 i64)))
  (import "extism:host/env" "var_get" (func $var_get (param i64) (result i64)))
  (func $key (result i64)
    (local $at i64)
    (local.set $at (call $alloc (i64.const 1)))
    (call $store (local.get $at) (i32.const 65))
    (local.get $at))
  (func $start
    (call $error_set (call $key))
    (call $var_set (call $key) (call $key)))
  (start $start)
  (func (export "before_run") (result i32)
    (i64.ne (call $var_get (call $key)) (i64.const 0)))
  (func (export "traps") (result i32) (unreachable)))
