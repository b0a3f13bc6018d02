;; Puts out the value of the config whose key is the input.
(module
  (import "extism:host/env" "input_offset" (func $input_offset (result i64)))
  (import "extism:host/env" "config_get" (func $config_get (param i64) (result i64)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (func (export "before_run") (result i32) (local $at i64)
    (local.set $at (call $config_get (call $input_offset)))
    (call $output_set (local.get $at) (call $length (local.get $at)))
    (i64.ne (local.get $at) (i64.const 0))))
