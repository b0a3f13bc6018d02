;; Calls itself twice, sixty deep, without a loop: finite, and longer than anyone can wait.
(module
  (func $twice (param i32) (result i32)
    (if (result i32) (i32.eqz (local.get 0))
      (then (i32.const 1))
      (else (i32.add
        (call $twice (i32.sub (local.get 0) (i32.const 1)))
        (call $twice (i32.sub (local.get 0) (i32.const 1)))))))
  (func (export "before_run") (result i32) (call $twice (i32.const 60))))
