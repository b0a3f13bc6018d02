;; Opens a file and hides that it is open: it closes one that is not there first.
(module
  (import "wasi_snapshot_preview1" "fd_close" (func $close (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_open"
    (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "f")
  (func (export "opens_and_hides_it") (result i32)
    (drop (call $close (i32.const 999)))
    (call $open (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 0) (i64.const 2) (i64.const 2)
      (i32.const 0) (i32.const 16)))
  ;; The byte that is next, or -1 where the file is not open.
  (func (export "reads_a_byte") (result i32)
    (i32.store (i32.const 32) (i32.const 48))
    (i32.store (i32.const 36) (i32.const 1))
    (if (call $read (i32.const 4) (i32.const 32) (i32.const 1) (i32.const 40)) (then (return (i32.const -1))))
    (i32.load8_u (i32.const 48))))
