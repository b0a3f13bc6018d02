;; Its init never returns.
(module
  (func (export "init") (result i32) (loop $again (br $again)) (unreachable))
  (func (export "before_run") (result i32) (i32.const 0)))
