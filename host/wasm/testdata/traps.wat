;; Breaks a rule of the machine.
(module
  (func (export "before_run") (result i32) (unreachable)))
