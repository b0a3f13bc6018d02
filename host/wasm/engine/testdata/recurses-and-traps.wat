;; Traps a hundred calls deep.
(module
  (func $nest (param $left i32) (result i32)
    (if (i32.eqz (local.get $left)) (then (unreachable)))
    (i32.add (i32.const 1) (call $nest (i32.sub (local.get $left) (i32.const 1)))))
  (func (export "before_run") (result i32) (call $nest (i32.const 100))))
