(module
  (table $t 1 externref)
  (func (export "before_run") (result i32) (table.grow $t (ref.null extern) (i32.const 1000000000))))
