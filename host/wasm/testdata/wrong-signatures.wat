;; Exports before_run with a parameter and init without a result.
(module
  (func (export "before_run") (param i32) (result i32) (i32.const 0))
  (func (export "init")))
