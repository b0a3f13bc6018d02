(module
  (func (export "before_run") (result i32)
    (block $a (block $b (br_table $a $b $a $b $a $b (i32.const 3))))
    (i32.const 0)))
