;; Has functions of WASI do much in one call, again and again.
(module
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 256)
  ;; Two million empty ranges.
  (func (export "writes") (result i32)
    (loop $again
      (drop (call $write (i32.const 1) (i32.const 0) (i32.const 2000000) (i32.const 16000000)))
      (br $again))
    (i32.const 0))
  ;; A hundred thousand events of standard input, which has one at once.
  (func (export "polls") (result i32)
    (local $at i32)
    (loop $next
      (i32.store8 (i32.add (local.get $at) (i32.const 8)) (i32.const 1))
      (local.set $at (i32.add (local.get $at) (i32.const 48)))
      (br_if $next (i32.lt_u (local.get $at) (i32.const 4800000))))
    (loop $again
      (drop (call $poll (i32.const 0) (i32.const 8000000) (i32.const 100000) (i32.const 16000000)))
      (br $again))
    (i32.const 0))
  ;; Memory that is not to be had is charged for, too.
  (func (export "asks_for_memory") (result i32)
    (local $times i32)
    (loop $again
      (drop (memory.grow (i32.const -1)))
      (br_if $again (i32.lt_u (local.tee $times (i32.add (local.get $times) (i32.const 1))) (i32.const 600000))))
    (i32.const 0)))
