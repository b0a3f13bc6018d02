(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 64) "panic: no \1b[31msuch\1b[0m thing\n")
  (func $print
    (i32.store (i32.const 0) (i32.const 64))
    (i32.store (i32.const 4) (i32.const 30))
    (drop (call $fd_write (i32.const 2) (i32.const 0) (i32.const 1) (i32.const 16))))
  (func (export "then_traps") (result i32) (call $print) unreachable)
  (func (export "thousand") (result i32) (local $n i32)
    (loop $again (call $print)
      (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 1000))))
    (i32.const 0)))
