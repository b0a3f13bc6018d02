;; Grows its memory by two pages and writes there; returns what was there before.
(module
  (memory (export "memory") 1 4)
  (func (export "before_run") (result i32)
    (local $was i32)
    (drop (memory.grow (i32.const 2)))
    (local.set $was (i32.or (i32.load (i32.const 65536)) (i32.load (i32.const 196604))))
    (memory.fill (i32.const 65536) (i32.const 255) (i32.const 131072))
    (local.get $was))
  (func (export "to_the_end") (result i32)
    (drop (memory.grow (i32.const 3)))
    (memory.size)))
