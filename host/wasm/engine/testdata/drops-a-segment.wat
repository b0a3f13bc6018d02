;; Copies a segment of data into its memory and drops it; a second time that is a trap.
(module
  (memory (export "memory") 1)
  (data $d "hello")
  (func (export "before_run") (result i32)
    (memory.init $d (i32.const 0) (i32.const 0) (i32.const 5))
    (data.drop $d)
    (i32.const 0)))
