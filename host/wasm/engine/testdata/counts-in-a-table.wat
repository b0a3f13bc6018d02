;; Keeps something in a table, which no host can read.
(module
  (table $t 2 funcref)
  (func $yes (result i32) (i32.const 1))
  (elem declare func $yes)
  (func (export "before_run") (result i32) (local $was i32)
    (local.set $was (i32.eqz (ref.is_null (table.get $t (i32.const 0)))))
    (table.set $t (i32.const 0) (ref.func $yes))
    (local.get $was))
  (func (export "marks") (result i32)
    (table.set $t (i32.const 1) (ref.func $yes))
    (i32.const 0))
  (func (export "marked") (result i32)
    (i32.sub (i32.const 2) (i32.add
      (ref.is_null (table.get $t (i32.const 0))) (ref.is_null (table.get $t (i32.const 1)))))))
