;; Adds an x to the text under the key "n" of the scope agent, as often as it takes for nobody to have been between its
;; reading and its writing.
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "free" (func $free (param i64)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "load_u8" (func $load_u8 (param i64) (result i32)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/user" "kv_get" (func $kv_get (param i64) (result i64)))
  (import "extism:host/user" "kv_set" (func $kv_set (param i64) (result i64)))
  (memory (export "memory") 1)
  (data (i32.const 0) "{\22scope\22:\22agent\22,\22key\22:\22n\22}\00")
  (data (i32.const 64) "{\22scope\22:\22agent\22,\22key\22:\22n\22,\22value\22:\22x\00")
  (data (i32.const 128) ",\22if_version\22:\00")
  (data (i32.const 192) "\22,\22if_version\22:0}\00")
  (data (i32.const 224) "{}\00")

  ;; What is being written stands at 1024.
  (global $written (mut i32) (i32.const 0))
  (func $put (param $byte i32)
    (i32.store8 (i32.add (i32.const 1024) (global.get $written)) (local.get $byte))
    (global.set $written (i32.add (global.get $written) (i32.const 1))))
  (func $text (param $at i32)
    (block $done
      (loop $next
        (br_if $done (i32.eqz (i32.load8_u (local.get $at))))
        (call $put (i32.load8_u (local.get $at)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $next))))
  (func $block (result i64)
    (local $block i64) (local $n i32)
    (local.set $block (call $alloc (i64.extend_i32_u (global.get $written))))
    (loop $copy
      (call $store_u8 (i64.add (local.get $block) (i64.extend_i32_u (local.get $n))) (i32.load8_u (i32.add (i32.const 1024) (local.get $n))))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if $copy (i32.lt_u (local.get $n) (global.get $written))))
    (global.set $written (i32.const 0))
    (local.get $block))

  ;; Writes what stands in a block up to a byte, that one included, and returns where it stands.
  (func $through (param $at i64) (param $last i32) (result i64)
    (loop $next
      (call $put (call $load_u8 (local.get $at)))
      (if (i32.ne (call $load_u8 (local.get $at)) (local.get $last))
        (then
          (local.set $at (i64.add (local.get $at) (i64.const 1)))
          (br $next))))
    (local.get $at))

  (func (export "before_run") (result i32)
    (local $answer i64) (local $at i64)
    (loop $again
      (call $text (i32.const 0))
      (local.set $answer (call $kv_get (call $block)))
      (call $text (i32.const 64))
      (if (i32.eq (call $load_u8 (i64.add (local.get $answer) (i64.const 9))) (i32.const 102)) ;; {"found":false}
        (then (call $text (i32.const 192)))
        (else ;; {"found":true,"value":"x","version":1}
          (local.set $at (call $through (i64.add (local.get $answer) (i64.const 23)) (i32.const 34)))
          (call $text (i32.const 128))
          (drop (call $through (i64.add (local.get $at) (i64.const 12)) (i32.const 125)))))
      (call $free (local.get $answer))
      (local.set $answer (call $kv_set (call $block)))
      (local.set $at (i64.extend_i32_u (call $load_u8 (i64.add (local.get $answer) (i64.const 2)))))
      (call $free (local.get $answer))
      (br_if $again (i64.eq (local.get $at) (i64.const 101)))) ;; {"error":
    (call $text (i32.const 224))
    (local.set $answer (call $block))
    (call $output_set (local.get $answer) (call $length (local.get $answer)))
    (i32.const 0)))
