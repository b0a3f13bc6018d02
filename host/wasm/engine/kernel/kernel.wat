;; The memory that a guest shares with its host through extism:host/env. A guest that is linked to an instance of this
;; module allocates, reads and writes without ever entering the host.
;;
;; Layout, in bytes:
;;
;;      0   the state: words of 8 bytes that only this module and the host reach (see state.go)
;;    128   a list of freed blocks for each class of capacities: 4 bytes each, the offset of the first block or 0
;;    512   the header of the first block
;;    528   the first block: the input, or 16 bytes where there is none; then header, block, header, block ... up to $top
;;
;; The header of a block, 16 bytes that end where the block begins:
;;
;;    -16   $LIVE or $FREE, in either case xor the offset of the block
;;    -12   its capacity, a multiple of 16
;;     -8   its length as it was asked for; of a freed block, the next one in its list or 0
;;     -4   the offset of the block before it, 0 for the first
;;
;; A freed block holds in its first 4 bytes the previous one in its list, or 0.
;;
;; A guest may overwrite all that lies between 528 and $top, headers too. So nothing that is read there is followed
;; before it has been compared with what it must be, and no walk is longer than a fixed number of steps or than the
;; number of blocks that it frees. A guest that breaks its headers loses its own blocks, and nothing else.
(module
  ;; What only the host can do. The host gives these functions, and a guest gets them from here with the others, so that
  ;; one instance is all of extism:host/env.
  (import "weft:host" "config_get" (func $config_get (param i64) (result i64)))
  (import "weft:host" "var_get" (func $var_get (param i64) (result i64)))
  (import "weft:host" "var_set" (func $var_set (param i64 i64)))
  (import "weft:host" "http_request" (func $http_request (param i64 i64) (result i64)))
  (import "weft:host" "http_status_code" (func $http_status_code (result i32)))
  (import "weft:host" "http_headers" (func $http_headers (result i64)))
  (import "weft:host" "log_trace" (func $log_trace (param i64)))
  (import "weft:host" "log_debug" (func $log_debug (param i64)))
  (import "weft:host" "log_info" (func $log_info (param i64)))
  (import "weft:host" "log_warn" (func $log_warn (param i64)))
  (import "weft:host" "log_error" (func $log_error (param i64)))
  (import "weft:host" "get_log_level" (func $get_log_level (result i32)))
  (export "config_get" (func $config_get))
  (export "var_get" (func $var_get))
  (export "var_set" (func $var_set))
  (export "http_request" (func $http_request))
  (export "http_status_code" (func $http_status_code))
  (export "http_headers" (func $http_headers))
  (export "log_trace" (func $log_trace))
  (export "log_debug" (func $log_debug))
  (export "log_info" (func $log_info))
  (export "log_warn" (func $log_warn))
  (export "log_error" (func $log_error))
  (export "get_log_level" (func $get_log_level))

  ;; One page less than there can be, so that its size in bytes fits in 32 bits.
  (memory 1 65535)

  ;; What the functions compare with that run once for every few bytes. All else is in the state, where the host reads
  ;; and writes many words for the price of one global.
  ;;
  ;; $top is where the next header goes: the end of the memory that the guest may reach. It is never below the end of
  ;; the first block, and so at least 16 above 528.
  (global $top (export "top") (mut i64) (i64.const 544))
  ;; Where the input begins.
  (global $input_offset (export "input_at") (mut i64) (i64.const 528))
  ;; At how many places of the input 8 bytes can be read: 7 less than its length, or 0.
  (global $input_words (export "input_words") (mut i64) (i64.const 0))

  ;; Loads and stores. 528 is subtracted on both sides, so that one comparison without sign covers both ends. They say
  ;; what was wrong each for itself, because a function that calls none is cheaper to enter.

  (func (export "load_u8") (param $at i64) (result i32)
    (if (i64.ge_u (i64.sub (local.get $at) (i64.const 528)) (i64.sub (global.get $top) (i64.const 528)))
      (then
        (i64.store (i32.const 64) (local.get $at))
        (i64.store (i32.const 72) (i64.const 1))
        (i64.store (i32.const 56) (i64.const 1))
        (unreachable)))
    (i32.load8_u (i32.wrap_i64 (local.get $at))))

  (func (export "load_u64") (param $at i64) (result i64)
    (if (i64.gt_u (i64.sub (local.get $at) (i64.const 528)) (i64.sub (global.get $top) (i64.const 536)))
      (then
        (i64.store (i32.const 64) (local.get $at))
        (i64.store (i32.const 72) (i64.const 8))
        (i64.store (i32.const 56) (i64.const 2))
        (unreachable)))
    (i64.load (i32.wrap_i64 (local.get $at))))

  (func (export "store_u8") (param $at i64) (param $value i32)
    (if (i64.ge_u (i64.sub (local.get $at) (i64.const 528)) (i64.sub (global.get $top) (i64.const 528)))
      (then
        (i64.store (i32.const 64) (local.get $at))
        (i64.store (i32.const 72) (i64.const 1))
        (i64.store (i32.const 56) (i64.const 3))
        (unreachable)))
    (i32.store8 (i32.wrap_i64 (local.get $at)) (local.get $value)))

  (func (export "store_u64") (param $at i64) (param $value i64)
    (if (i64.gt_u (i64.sub (local.get $at) (i64.const 528)) (i64.sub (global.get $top) (i64.const 536)))
      (then
        (i64.store (i32.const 64) (local.get $at))
        (i64.store (i32.const 72) (i64.const 8))
        (i64.store (i32.const 56) (i64.const 4))
        (unreachable)))
    (i64.store (i32.wrap_i64 (local.get $at)) (local.get $value)))

  ;; The input.

  (func (export "input_load_u8") (param $at i64) (result i32)
    (if (i64.ge_u (local.get $at) (i64.load (i32.const 8)))
      (then
        (i64.store (i32.const 64) (local.get $at))
        (i64.store (i32.const 72) (i64.load (i32.const 8)))
        (i64.store (i32.const 56) (i64.const 5))
        (unreachable)))
    (i32.load8_u (i32.wrap_i64 (i64.add (global.get $input_offset) (local.get $at)))))

  (func (export "input_load_u64") (param $at i64) (result i64)
    (if (i64.ge_u (local.get $at) (global.get $input_words))
      (then
        (i64.store (i32.const 64) (local.get $at))
        (i64.store (i32.const 72) (i64.load (i32.const 8)))
        (i64.store (i32.const 56) (i64.const 6))
        (unreachable)))
    (i64.load (i32.wrap_i64 (i64.add (global.get $input_offset) (local.get $at)))))

  (func (export "input_length") (result i64)
    (i64.load (i32.const 8)))

  (func (export "input_offset") (result i64)
    (select (global.get $input_offset) (i64.const 0) (i64.ne (i64.load (i32.const 8)) (i64.const 0))))

  (func $input_set (export "input_set") (param $at i64) (param $length i64)
    (if (i64.eqz (call $inside (local.get $at) (local.get $length)))
      (then (call $fault (i64.const 7) (local.get $at) (local.get $length))))
    (i64.store (i32.const 8) (local.get $length))
    (global.set $input_offset (local.get $at))
    (global.set $input_words
      (select (i64.sub (local.get $length) (i64.const 7)) (i64.const 0) (i64.gt_u (local.get $length) (i64.const 7)))))

  ;; The output. What is too long is refused before its place is looked at, and so is never read.

  (func (export "output_set") (param $at i64) (param $length i64)
    (if (i64.gt_u (local.get $length) (i64.load (i32.const 32)))
      (then (call $fault (i64.const 9) (local.get $at) (local.get $length))))
    (if (i64.eqz (call $inside (local.get $at) (local.get $length)))
      (then (call $fault (i64.const 8) (local.get $at) (local.get $length))))
    (i64.store (i32.const 16) (local.get $at))
    (i64.store (i32.const 24) (local.get $length)))

  (func (export "output_offset") (result i64)
    (i64.load (i32.const 16)))

  (func (export "output_length") (result i64)
    (i64.load (i32.const 24)))

  ;; The error: a block, or 0 for none.

  (func (export "error_set") (param $at i64)
    (if (i64.ne (local.get $at) (i64.const 0))
      (then
        (if (i32.eqz (call $is_live (local.get $at)))
          (then (call $fault (i64.const 10) (local.get $at) (i64.const 0))))))
    (i64.store (i32.const 40) (local.get $at)))

  (func (export "error_get") (result i64)
    (i64.load (i32.const 40)))

  ;; Blocks.

  (func $length (export "length") (export "length_unsafe") (param $at i64) (result i64)
    (if (result i64) (call $is_live (local.get $at))
      (then (i64.load32_u (i32.sub (i32.wrap_i64 (local.get $at)) (i32.const 8))))
      (else (i64.const 0))))

  ;; alloc takes a freed block of the same class where there is one that is large enough, looking at 8 at most, or else
  ;; makes a new one at the end. It returns 0 for no bytes, and where there is no room.
  (func (export "alloc") (param $n i64) (result i64)
    (local $room i32) (local $block i32) (local $steps i32) (local $end i64)
    (if (i64.eqz (local.get $n)) (then (return (i64.const 0))))
    ;; Small enough that no sum below overflows.
    (if (i64.gt_u (local.get $n) (i64.const 0xffff0000))
      (then
        (i64.store (i32.const 80) (i64.const 1))
        (return (i64.const 0))))
    (local.set $room (i32.and (i32.add (i32.wrap_i64 (local.get $n)) (i32.const 15)) (i32.const -16)))
    (local.set $block (i32.load (call $list (local.get $room))))
    (local.set $steps (i32.const 8))
    (block $none
      (loop $next
        (br_if $none (i32.eqz (local.get $block)))
        (br_if $none (i32.eqz (local.get $steps)))
        (br_if $none (i32.eqz (call $is_free (local.get $block))))
        (if (i32.and
              (i32.ge_u (i32.load (i32.sub (local.get $block) (i32.const 12))) (local.get $room))
              (call $fits (local.get $block)))
          (then
            (call $unlink (local.get $block))
            (i32.store (i32.sub (local.get $block) (i32.const 16))
              (i32.xor (local.get $block) (i32.const 0x6576696c)))
            (i64.store32 (i32.sub (local.get $block) (i32.const 8)) (local.get $n))
            (return (i64.extend_i32_u (local.get $block)))))
        (local.set $block (i32.load (i32.sub (local.get $block) (i32.const 8))))
        (local.set $steps (i32.sub (local.get $steps) (i32.const 1)))
        (br $next)))

    (local.set $end (i64.add (i64.add (global.get $top) (i64.const 16)) (i64.extend_i32_u (local.get $room))))
    (if (i32.eqz (call $reserve (local.get $end)))
      (then
        (i64.store (i32.const 80) (i64.const 1))
        (return (i64.const 0))))
    (local.set $block (i32.add (i32.wrap_i64 (global.get $top)) (i32.const 16)))
    (i32.store (i32.sub (local.get $block) (i32.const 16)) (i32.xor (local.get $block) (i32.const 0x6576696c)))
    (i32.store (i32.sub (local.get $block) (i32.const 12)) (local.get $room))
    (i64.store32 (i32.sub (local.get $block) (i32.const 8)) (local.get $n))
    (i32.store (i32.sub (local.get $block) (i32.const 4)) (i32.load (i32.const 88)))
    (i32.store (i32.const 88) (local.get $block))
    (global.set $top (local.get $end))
    (if (i64.gt_u (local.get $end) (i64.load (i32.const 0)))
      (then (i64.store (i32.const 0) (local.get $end))))
    (i64.extend_i32_u (local.get $block)))

  ;; free does nothing where no block begins, and to a block that output or error lie in: guests free those before they
  ;; return, and the host reads them afterwards.
  (func (export "free") (param $at i64)
    (local $block i32) (local $list i32) (local $next i32)
    (if (i32.eqz (call $is_live (local.get $at))) (then (return)))
    (local.set $block (i32.wrap_i64 (local.get $at)))
    (if (i64.eq (local.get $at) (i64.load (i32.const 40))) (then (return)))
    (if (i32.and
          (i64.lt_u (local.get $at) (i64.add (i64.load (i32.const 16)) (i64.load (i32.const 24))))
          (i64.gt_u
            (i64.add (local.get $at) (i64.load32_u (i32.sub (local.get $block) (i32.const 12))))
            (i64.load (i32.const 16))))
      (then (return)))
    (if (i64.eq (local.get $at) (global.get $input_offset))
      (then
        (i64.store (i32.const 8) (i64.const 0))
        (global.set $input_words (i64.const 0))))
    (if (i32.and
          (i32.eq (local.get $block) (i32.load (i32.const 88)))
          (i64.gt_u (local.get $at) (i64.load (i32.const 48))))
      (then
        (call $give_back (local.get $block))
        (return)))
    (local.set $list (call $list (i32.load (i32.sub (local.get $block) (i32.const 12)))))
    (local.set $next (i32.load (local.get $list)))
    (if (i32.eqz (call $is_free (local.get $next))) (then (local.set $next (i32.const 0))))
    (i32.store (i32.sub (local.get $block) (i32.const 16)) (i32.xor (local.get $block) (i32.const 0x65657266)))
    (i32.store (i32.sub (local.get $block) (i32.const 8)) (local.get $next))
    (i32.store (local.get $block) (i32.const 0))
    (if (local.get $next) (then (i32.store (local.get $next) (local.get $block))))
    (i32.store (local.get $list) (local.get $block)))

  ;; reset forgets all blocks, input, output and error. The bytes stay, and so does what the host zeroes between calls.
  (func (export "reset")
    (local $list i32)
    (i64.store (i32.const 8) (i64.const 0))
    (i64.store (i32.const 16) (i64.const 0))
    (i64.store (i32.const 24) (i64.const 0))
    (i64.store (i32.const 40) (i64.const 0))
    (i64.store (i32.const 48) (i64.const 544))
    (i64.store (i32.const 88) (i64.const 528))
    (global.set $top (i64.const 544))
    (global.set $input_offset (i64.const 528))
    (global.set $input_words (i64.const 0))
    (local.set $list (i32.const 128))
    (loop $next
      (i64.store (local.get $list) (i64.const 0))
      (br_if $next (i32.lt_u (local.tee $list (i32.add (local.get $list) (i32.const 8))) (i32.const 512))))
    ;; The first block, with room for 16 bytes and none of them used.
    (i32.store (i32.const 512) (i32.xor (i32.const 528) (i32.const 0x6576696c)))
    (i32.store (i32.const 516) (i32.const 16))
    (i64.store (i32.const 520) (i64.const 0)))

  (func (export "memory_bytes") (result i64)
    (i64.shl (i64.extend_i32_u (memory.size)) (i64.const 16)))

  ;; What follows is not for guests.

  ;; fault notes for the host what was wrong, and stops the guest.
  (func $fault (param $what i64) (param $at i64) (param $length i64)
    (i64.store (i32.const 56) (local.get $what))
    (i64.store (i32.const 64) (local.get $at))
    (i64.store (i32.const 72) (local.get $length))
    (unreachable))

  ;; inside says whether length bytes from at lie in the memory of the guest. No bytes lie anywhere.
  (func $inside (param $at i64) (param $length i64) (result i64)
    (if (i64.eqz (local.get $length)) (then (return (i64.const 1))))
    (if (i64.gt_u (i64.sub (local.get $at) (i64.const 528)) (i64.sub (global.get $top) (i64.const 528)))
      (then (return (i64.const 0))))
    (i64.extend_i32_u (i64.le_u (local.get $length) (i64.sub (global.get $top) (local.get $at)))))

  ;; is_live says whether a block begins at an offset that is in use.
  (func $is_live (param $at i64) (result i32)
    (if (i64.ge_u (i64.sub (local.get $at) (i64.const 528)) (i64.sub (global.get $top) (i64.const 528)))
      (then (return (i32.const 0))))
    (if (i64.ne (i64.and (local.get $at) (i64.const 15)) (i64.const 0))
      (then (return (i32.const 0))))
    (i32.eq
      (i32.load (i32.sub (i32.wrap_i64 (local.get $at)) (i32.const 16)))
      (i32.xor (i32.wrap_i64 (local.get $at)) (i32.const 0x6576696c))))

  ;; is_free says whether a block begins at an offset that was freed.
  (func $is_free (param $block i32) (result i32)
    (if (i64.ge_u
          (i64.sub (i64.extend_i32_u (local.get $block)) (i64.const 528))
          (i64.sub (global.get $top) (i64.const 528)))
      (then (return (i32.const 0))))
    (if (i32.and (local.get $block) (i32.const 15)) (then (return (i32.const 0))))
    (i32.eq
      (i32.load (i32.sub (local.get $block) (i32.const 16)))
      (i32.xor (local.get $block) (i32.const 0x65657266))))

  ;; fits says whether a block, which lies below $top, ends there or before, if its capacity is to be believed.
  (func $fits (param $block i32) (result i32)
    (i64.le_u
      (i64.load32_u (i32.sub (local.get $block) (i32.const 12)))
      (i64.sub (global.get $top) (i64.extend_i32_u (local.get $block)))))

  ;; list returns where the list of freed blocks of a capacity begins. Up to 1,024 bytes each capacity has its own, and
  ;; above that those from one power of two to the next share one. There are 87, whatever the capacity.
  (func $list (param $capacity i32) (result i32)
    (i32.add
      (i32.const 128)
      (i32.shl
        (select
          (i32.shr_u (local.get $capacity) (i32.const 4))
          (i32.sub (i32.const 86) (i32.clz (local.get $capacity)))
          (i32.le_u (local.get $capacity) (i32.const 1024)))
        (i32.const 2))))

  ;; unlink takes a freed block out of its list. Where the list does not hold together it is left as it is.
  (func $unlink (param $block i32)
    (local $list i32) (local $next i32) (local $previous i32)
    (local.set $next (i32.load (i32.sub (local.get $block) (i32.const 8))))
    (local.set $previous (i32.load (local.get $block)))
    (if (call $is_free (local.get $previous))
      (then
        (if (i32.eq (i32.load (i32.sub (local.get $previous) (i32.const 8))) (local.get $block))
          (then (i32.store (i32.sub (local.get $previous) (i32.const 8)) (local.get $next)))))
      (else
        (local.set $list (call $list (i32.load (i32.sub (local.get $block) (i32.const 12)))))
        (if (i32.eq (i32.load (local.get $list)) (local.get $block))
          (then (i32.store (local.get $list) (local.get $next))))))
    (if (call $is_free (local.get $next))
      (then (i32.store (local.get $next) (local.get $previous)))))

  ;; give_back lets $top sink below the last block, and below freed ones that are then the last. Each step takes one
  ;; block away, and none goes below the first one.
  (func $give_back (param $block i32)
    (local $previous i32)
    (loop $next
      (local.set $previous (i32.load (i32.sub (local.get $block) (i32.const 4))))
      (i32.store (i32.sub (local.get $block) (i32.const 16)) (i32.const 0))
      (global.set $top (i64.extend_i32_u (i32.sub (local.get $block) (i32.const 16))))
      (if (i64.le_u (i64.extend_i32_u (local.get $previous)) (i64.load (i32.const 48)))
        (then
          ;; The first block, or none at all: there is nothing more to give back.
          (i32.store (i32.const 88) (i32.const 528))
          (return)))
      (i32.store (i32.const 88) (local.get $previous))
      (local.set $block (local.get $previous))
      (br_if $next
        (if (result i32) (call $is_free (local.get $block))
          (then
            (call $unlink (local.get $block))
            (i32.const 1))
          (else (i32.const 0))))))

  ;; reserve makes the memory reach up to end: twice as large as it was, or where that is too much, as large as needed.
  (func $reserve (param $end i64) (result i32)
    (local $pages i64) (local $missing i64)
    (local.set $pages (i64.extend_i32_u (memory.size)))
    (local.set $missing
      (i64.sub (i64.shr_u (i64.add (local.get $end) (i64.const 0xffff)) (i64.const 16)) (local.get $pages)))
    (if (i64.le_s (local.get $missing) (i64.const 0)) (then (return (i32.const 1))))
    (if (i64.lt_u (local.get $missing) (local.get $pages))
      (then
        (if (i32.ne (memory.grow (i32.wrap_i64 (local.get $pages))) (i32.const -1)) (then (return (i32.const 1))))))
    (i32.ne (memory.grow (i32.wrap_i64 (local.get $missing))) (i32.const -1)))
)
