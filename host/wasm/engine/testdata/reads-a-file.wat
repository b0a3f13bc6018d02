;; Reads up to 32 KiB of a file.
(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_open"
    (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "f")
  (func (export "before_run") (result i32)
    (drop (call $open (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 0) (i64.const 2) (i64.const 2)
      (i32.const 0) (i32.const 16)))
    (i32.store (i32.const 32) (i32.const 1024))
    (i32.store (i32.const 36) (i32.const 32768))
    (call $read (i32.const 4) (i32.const 32) (i32.const 1) (i32.const 40))))
