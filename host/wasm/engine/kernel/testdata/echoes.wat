;; Puts out its input, copied 8 bytes at a time into a block of its own, as a PDK does: once by input_load_u64, once by
;; load_u64 from where the input lies.
(module
  (import "extism:host/env" "input_offset" (func $input_offset (result i64)))
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (import "extism:host/env" "input_load_u64" (func $input_load_u64 (param i64) (result i64)))
  (import "extism:host/env" "input_load_u8" (func $input_load_u8 (param i64) (result i32)))
  (import "extism:host/env" "load_u64" (func $load_u64 (param i64) (result i64)))
  (import "extism:host/env" "load_u8" (func $load_u8 (param i64) (result i32)))
  (import "extism:host/env" "store_u64" (func $store_u64 (param i64 i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "free" (func $free (param i64)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (memory 64)

  (func (export "echo") (result i32)
    (local $n i64) (local $at i64) (local $to i64) (local $words i64)
    (local.set $n (call $input_length))
    (local.set $words (i64.and (local.get $n) (i64.const -8)))
    (block $done (loop $next
      (br_if $done (i64.ge_u (local.get $at) (local.get $words)))
      (i64.store (i32.wrap_i64 (local.get $at)) (call $input_load_u64 (local.get $at)))
      (local.set $at (i64.add (local.get $at) (i64.const 8)))
      (br $next)))
    (block $done (loop $next
      (br_if $done (i64.ge_u (local.get $at) (local.get $n)))
      (i32.store8 (i32.wrap_i64 (local.get $at)) (call $input_load_u8 (local.get $at)))
      (local.set $at (i64.add (local.get $at) (i64.const 1)))
      (br $next)))
    (call $put_out (local.get $n))
    (i32.const 0))

  (func (export "echo_from_its_place") (result i32)
    (local $n i64) (local $at i64) (local $from i64) (local $words i64)
    (local.set $n (call $input_length))
    (local.set $from (call $input_offset))
    (local.set $words (i64.and (local.get $n) (i64.const -8)))
    (block $done (loop $next
      (br_if $done (i64.ge_u (local.get $at) (local.get $words)))
      (i64.store (i32.wrap_i64 (local.get $at)) (call $load_u64 (i64.add (local.get $from) (local.get $at))))
      (local.set $at (i64.add (local.get $at) (i64.const 8)))
      (br $next)))
    (block $done (loop $next
      (br_if $done (i64.ge_u (local.get $at) (local.get $n)))
      (i32.store8 (i32.wrap_i64 (local.get $at)) (call $load_u8 (i64.add (local.get $from) (local.get $at))))
      (local.set $at (i64.add (local.get $at) (i64.const 1)))
      (br $next)))
    (call $put_out (local.get $n))
    (i32.const 0))

  ;; put_out copies n bytes from the beginning of the guest's own memory into a block, puts it out and frees it.
  (func $put_out (param $n i64)
    (local $at i64) (local $to i64) (local $words i64)
    (local.set $to (call $alloc (local.get $n)))
    (local.set $words (i64.and (local.get $n) (i64.const -8)))
    (block $done (loop $next
      (br_if $done (i64.ge_u (local.get $at) (local.get $words)))
      (call $store_u64 (i64.add (local.get $to) (local.get $at)) (i64.load (i32.wrap_i64 (local.get $at))))
      (local.set $at (i64.add (local.get $at) (i64.const 8)))
      (br $next)))
    (block $done (loop $next
      (br_if $done (i64.ge_u (local.get $at) (local.get $n)))
      (call $store_u8 (i64.add (local.get $to) (local.get $at)) (i32.load8_u (i32.wrap_i64 (local.get $at))))
      (local.set $at (i64.add (local.get $at) (i64.const 1)))
      (br $next)))
    (call $output_set (local.get $to) (local.get $n))
    (call $free (local.get $to))
    (call $free (call $alloc (local.get $n))))

  ;; nothing returns at once.
  (func (export "nothing") (result i32) (i32.const 0))
)
