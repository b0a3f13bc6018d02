module github.com/weft-run/weft/bench/engine/guests/go-extism

go 1.26

require github.com/extism/go-pdk v1.1.3
