(module
  (memory (export "memory") 1000)
  (func (export "before_run") (result i32) (i32.const 0)))
