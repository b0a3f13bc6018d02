;; Returns 100,000 opening brackets.
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (func (export "before_run") (result i32)
    (local $block i64) (local $n i64)
    (local.set $block (call $alloc (i64.const 100000)))
    (loop $next
      (call $store_u8 (i64.add (local.get $block) (local.get $n)) (i32.const 0x5b))
      (local.set $n (i64.add (local.get $n) (i64.const 1)))
      (br_if $next (i64.lt_u (local.get $n) (i64.const 100000))))
    (call $output_set (local.get $block) (i64.const 100000))
    (i32.const 0)))
