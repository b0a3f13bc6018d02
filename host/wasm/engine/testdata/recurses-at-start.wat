;; Calls itself a thousand deep in its start function, before the host can set anything.
(module
  (global $deepest (mut i32) (i32.const 0))
  (func $deeper (param $n i32)
    (global.set $deepest (local.get $n))
    (if (i32.lt_u (local.get $n) (i32.const 1000))
      (then (call $deeper (i32.add (local.get $n) (i32.const 1))))))
  (func $start (call $deeper (i32.const 0)))
  (start $start)
  (func (export "depth") (result i32) (global.get $deepest)))
