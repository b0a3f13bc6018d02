;; Returns 1 and an error envelope as its error text.
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "error_set" (func $error_set (param i64)))
  (memory (export "memory") 1)
  (data (i32.const 0) "{\22error\22:{\22code\22:\22not_found\22,\22message\22:\22no such city\22}}")
  (func (export "before_run") (result i32)
    (local $block i64) (local $n i64)
    (local.set $block (call $alloc (i64.const 55)))
    (loop $next
      (call $store_u8 (i64.add (local.get $block) (local.get $n)) (i32.load8_u (i32.wrap_i64 (local.get $n))))
      (local.set $n (i64.add (local.get $n) (i64.const 1)))
      (br_if $next (i64.lt_u (local.get $n) (i64.const 55))))
    (call $error_set (local.get $block))
    (i32.const 1)))
