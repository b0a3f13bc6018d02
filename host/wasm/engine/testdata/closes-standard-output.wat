;; Keeps something in its file descriptors: whether one is open.
(module
  (import "wasi_snapshot_preview1" "fd_close" (func $close (param i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "before_run") (result i32) (call $close (i32.const 1))))
