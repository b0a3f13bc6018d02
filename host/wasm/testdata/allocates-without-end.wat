;; Takes memory until it gets no more, and traps then.
(module
  (memory (export "memory") 1)
  (func (export "before_run") (result i32)
    (loop $more (br_if $more (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))
    (unreachable)))
