(module
  (func $deeper (param i32) (result i32) (i32.add (call $deeper (i32.add (local.get 0) (i32.const 1))) (i32.const 1)))
  (func (export "before_run") (result i32) (call $deeper (i32.const 0)))
  (func (export "fine") (result i32) (i32.const 0)))
