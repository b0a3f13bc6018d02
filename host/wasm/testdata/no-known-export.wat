;; Exports functions, and none that the host calls.
(module
  (func (export "run") (result i32) (i32.const 0))
  (func (export "beforeRun") (result i32) (i32.const 0)))
