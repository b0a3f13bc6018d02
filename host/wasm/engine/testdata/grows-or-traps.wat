;; Asks for 4 MiB, and gives up where it does not get them.
(module
  (memory (export "memory") 1)
  (func (export "before_run") (result i32)
    (if (i32.eq (memory.grow (i32.const 64)) (i32.const -1)) (then (unreachable)))
    (i32.const 0)))
