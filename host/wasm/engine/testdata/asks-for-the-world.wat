;; Puts out what it learns about the world: 8 bytes each of the wall clock, the monotonic clock and chance, then the
;; environment as it lies in memory.
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "environ_sizes_get" (func $sizes (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "environ_get" (func $environ (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func $put (param $from i32) (param $length i32)
    (local $at i64) (local $n i32)
    (local.set $at (call $alloc (i64.extend_i32_u (local.get $length))))
    (block $done
      (loop $more
        (br_if $done (i32.ge_u (local.get $n) (local.get $length)))
        (call $store_u8
          (i64.add (local.get $at) (i64.extend_i32_u (local.get $n)))
          (i32.load8_u (i32.add (local.get $from) (local.get $n))))
        (local.set $n (i32.add (local.get $n) (i32.const 1)))
        (br $more)))
    (call $output_set (local.get $at) (i64.extend_i32_u (local.get $length))))
  (func (export "before_run") (result i32)
    (drop (call $clock (i32.const 0) (i64.const 1) (i32.const 1024)))
    (drop (call $clock (i32.const 1) (i64.const 1) (i32.const 1032)))
    (drop (call $random (i32.const 1040) (i32.const 8)))
    (drop (call $sizes (i32.const 0) (i32.const 4)))
    (drop (call $environ (i32.const 512) (i32.const 1048)))
    (call $put (i32.const 1024) (i32.add (i32.const 24) (i32.load (i32.const 4))))
    (i32.load (i32.const 0)))
  (func (export "asks_outside") (result i32)
    (i32.add
      (call $sizes (i32.const -1) (i32.const 4))
      (call $environ (i32.const 65535) (i32.const 65535)))))
