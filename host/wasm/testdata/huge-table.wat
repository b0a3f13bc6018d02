;; Has a table that is larger than any may be.
(module
  (table 1000000 funcref)
  (func (export "before_run") (result i32) (i32.const 0)))
