;; Its memory begins with 1 GiB.
(module
  (memory (export "memory") 16384)
  (func (export "before_run") (result i32) (i32.const 0)))
