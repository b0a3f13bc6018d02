(module
  (memory (export "memory") 1 65536)
  (func (export "before_run") (result i32) (memory.grow (i32.const 1))))
