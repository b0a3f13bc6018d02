;; Unknown imports, a wrong signature and too much memory, all at once.
(module
  (import "env" "abort" (func (param i32 i32 i32 i32)))
  (import "extism:host/user" "time_travel" (func (param i64) (result i64)))
  (memory (export "memory") 16384)
  (func (export "before_run") (param i64)))
