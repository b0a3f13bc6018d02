;; A plugin that traps in before_run.
(module
  (memory (export "memory") 1)
  (func (export "before_run") (result i32) unreachable))
