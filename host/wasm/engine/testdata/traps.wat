(module
  (memory (export "memory") 1)
  (func (export "unreachable") (result i32) unreachable)
  (func (export "divides") (result i32) (i32.div_u (i32.const 1) (i32.const 0)))
  (func (export "reads_outside") (result i32) (i32.load (i32.const 65536)))
  (func (export "fine") (result i32) (i32.const 0)))
