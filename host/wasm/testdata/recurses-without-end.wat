;; Calls itself, and keeps the frames.
(module
  (func $deeper (param i64 i64 i64 i64) (result i64)
    (i64.add (i64.const 1) (call $deeper (local.get 0) (local.get 1) (local.get 2) (local.get 3))))
  (func (export "before_run") (result i32)
    (drop (call $deeper (i64.const 0) (i64.const 0) (i64.const 0) (i64.const 0)))
    (i32.const 0)))
