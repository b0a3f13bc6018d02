(module
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (func (export "gibibyte") (result i32) (call $output_set (call $alloc (i64.const 8)) (i64.const 0x40000000)) (i32.const 0))
  (func (export "everything") (result i32) (call $output_set (call $alloc (i64.const 8)) (i64.const -1)) (i32.const 0))
  (func (export "allocated") (result i32) (local $at i64)
    (local.set $at (call $alloc (i64.const 300000)))
    (call $output_set (local.get $at) (i64.const 300000)) (i32.const 0)))
