;; Exports a hook that is called, and one of later versions.
(module
  (func (export "before_run") (result i32) (i32.const 0))
  (func (export "process") (result i32) (i32.const 0)))
