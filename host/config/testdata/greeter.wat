;; A plugin that describes itself and adds one message and one instruction to each run.
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (memory (export "memory") 1 2)
  (data (i32.const 0) "{\"name\":\"greeter\",\"version\":\"1.0.0\",\"description\":\"Knows what a weft is.\",\"source_id\":\"greeter\",\"config_schema\":{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"warm\":{\"type\":\"boolean\",\"default\":true,\"description\":\"Whether it greets warmly.\"}}}}")
  (data (i32.const 1024) "{\"extend_messages\":[{\"role\":\"user\",\"text\":\"A weft is the thread that crosses the warp.\"}],\"extend_instructions\":[\"Be brief.\"]}")
  ;; $put makes the text at $from, $size bytes long, the output.
  (func $put (param $from i32) (param $size i32) (result i32)
    (local $to i64) (local $i i32)
    (local.set $to (call $alloc (i64.extend_i32_u (local.get $size))))
    (loop $next
      (call $store_u8
        (i64.add (local.get $to) (i64.extend_i32_u (local.get $i)))
        (i32.load8_u (i32.add (local.get $from) (local.get $i))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $i) (local.get $size))))
    (call $output_set (local.get $to) (i64.extend_i32_u (local.get $size)))
    (i32.const 0))
  (func (export "describe") (result i32) (call $put (i32.const 0) (i32.const 257)))
  (func (export "before_run") (result i32) (call $put (i32.const 1024) (i32.const 126))))
