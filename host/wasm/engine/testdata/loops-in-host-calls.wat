(module
  (import "extism:host/env" "input_length" (func $cheap (result i64)))
  (func (export "before_run") (result i32) (loop $again (drop (call $cheap)) (br $again)) (i32.const 0)))
