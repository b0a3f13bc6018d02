;; Grows its memory until it gets no more, and then either traps or goes on without.
(module
  (memory (export "memory") 1)
  (func $grow (loop $again
    (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))))
  (func (export "then_traps") (result i32) (call $grow) unreachable)
  (func (export "then_copes") (result i32) (call $grow) (memory.size)))
