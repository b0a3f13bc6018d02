module github.com/weft-run/weft/plugins/mem0

go 1.26

require github.com/weft-run/weft/pdk/go v0.0.0

replace github.com/weft-run/weft/pdk/go => ../../pdk/go
