;; Prepares something once: init makes its memory larger and counts how often it ran.
(module
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (memory (export "memory") 1)
  (global $ready (mut i32) (i32.const 0))
  (func (export "init") (result i32)
    (drop (memory.grow (i32.const 3)))
    (i32.store (i32.const 200000) (i32.add (i32.load (i32.const 200000)) (i32.wrap_i64 (call $input_length))))
    (global.set $ready (i32.add (global.get $ready) (i32.const 1)))
    (i32.const 0))
  (func (export "times") (result i32) (global.get $ready))
  (func (export "prepared") (result i32) (i32.load (i32.const 200000)))
  (func (export "spoils") (result i32) (i32.store (i32.const 200000) (i32.const 99)) unreachable)
  (func (export "fails") (result i32) (i32.const 9)))
