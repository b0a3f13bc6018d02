module github.com/weft-run/weft/pdk/go

go 1.26
