;; Calls itself without end in its start function.
(module
  (func $deeper (param $n i32) (result i32)
    (i32.add (call $deeper (i32.add (local.get $n) (i32.const 1))) (i32.const 1)))
  (func $start (drop (call $deeper (i32.const 0))))
  (start $start)
  (func (export "before_run") (result i32) (i32.const 0)))
