(module
  (import "extism:host/env" "http_request" (func $http_request (param i64 i64) (result i64)))
  (import "extism:host/env" "http_status_code" (func $status (result i32)))
  (import "extism:host/env" "http_headers" (func $headers (result i64)))
  (func (export "before_run") (result i32) (i32.wrap_i64 (call $http_request (i64.const 0) (i64.const 0))))
  (func (export "status") (result i32) (i32.or (call $status) (i32.wrap_i64 (call $headers)))))
