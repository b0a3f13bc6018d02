;; Returns 1 MiB of spaces.
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (func (export "before_run") (result i32)
    (call $output_set (call $alloc (i64.const 1048576)) (i64.const 1048576))
    (i32.const 0)))
