;; Adds a message, an instruction, state and a member that no version names. Claims to be another source.
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (memory (export "memory") 1)
  (data (i32.const 0) "{\22extend_messages\22:[{\22role\22:\22user\22,\22text\22:\22from the plugin\22,\22source_id\22:\22somebody_else\22}],\22extend_instructions\22:[\22Be brief.\22],\22state\22:{\22n\22: 1.50},\22later\22:true}\00")
  (data (i32.const 4096) "{}\00")
  (data (i32.const 8192) "{}\00")
  (data (i32.const 12288) "{\22state\22:{\22greeted\22:true}}\00")

  ;; put makes the text at an address, up to its NUL, the output.
  (func $put (param $at i32) (result i32)
    (local $block i64) (local $n i64) (local $c i32)
    (local.set $block (call $alloc (i64.const 4096)))
    (block $done
      (loop $next
        (local.set $c (i32.load8_u (i32.add (local.get $at) (i32.wrap_i64 (local.get $n)))))
        (br_if $done (i32.eqz (local.get $c)))
        (call $store_u8 (i64.add (local.get $block) (local.get $n)) (local.get $c))
        (local.set $n (i64.add (local.get $n) (i64.const 1)))
        (br $next)))
    (call $output_set (local.get $block) (local.get $n))
    (i32.const 0))

  (func (export "before_run") (result i32) (call $put (i32.const 0)))

  (func (export "after_run") (result i32) (call $put (i32.const 4096)))

  (func (export "run_failed") (result i32) (call $put (i32.const 8192)))

  (func (export "session_created") (result i32) (call $put (i32.const 12288)))
)
