;; Does as much work as its input is long, and says so. The work is the same on every machine.
(module
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (func (export "before_run") (result i32)
    (local $left i64)
    (local.set $left (i64.mul (call $input_length) (i64.const 1000)))
    (block $done
      (loop $more
        (br_if $done (i64.eqz (local.get $left)))
        (local.set $left (i64.sub (local.get $left) (i64.const 1)))
        (br $more)))
    (i32.const 0))
  ;; Fills 64 KiB as often as its input is long: few instructions, much work.
  (memory 1)
  (func (export "fills") (result i32)
    (local $left i64)
    (local.set $left (call $input_length))
    (block $done
      (loop $more
        (br_if $done (i64.eqz (local.get $left)))
        (memory.fill (i32.const 0) (i32.const 7) (i32.const 65536))
        (local.set $left (i64.sub (local.get $left) (i64.const 1)))
        (br $more)))
    (i32.const 0)))
