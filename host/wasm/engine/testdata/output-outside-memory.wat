;; Each export claims an output that does not lie where outputs lie.
(module
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (func (export "beyond") (result i32) (call $output_set (call $alloc (i64.const 8)) (i64.const 4096)) (i32.const 0))
  (func (export "far") (result i32) (call $output_set (i64.const 0x7fffffffffffffff) (i64.const 8)) (i32.const 0))
  (func (export "at_zero") (result i32) (call $output_set (i64.const 0) (i64.const 8)) (i32.const 0))
  (func (export "wraps") (result i32)
    (drop (call $alloc (i64.const 64)))
    (call $output_set (i64.const 0xfffffffffffffff8) (i64.const 32)) (i32.const 0)))
