;; Exits, once with a code of its own and once with those that the runtime uses for the end of a context.
(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (func (export "before_run") (result i32) (call $exit (i32.const 3)) (i32.const 0))
  (func (export "like_a_deadline") (result i32) (call $exit (i32.const 0xefffffff)) (i32.const 0))
  (func (export "like_a_cancellation") (result i32) (call $exit (i32.const 0xffffffff)) (i32.const 0)))
