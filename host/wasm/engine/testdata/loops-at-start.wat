(module
  (func $start (loop $again (br $again)))
  (start $start)
  (func (export "before_run") (result i32) (i32.const 0)))
