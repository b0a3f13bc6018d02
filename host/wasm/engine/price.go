package engine

// What the functions of WASI cost, beyond what every function of the host does, so that work that a guest asks for in one
// call is paid for as it would be in many.
const (
	// fuelPerVector is for each range of memory that is read or written. Ranges may be many, and lie in one another.
	fuelPerVector = 16
	// fuelPerEvent is for each event that is waited for.
	fuelPerEvent = 64
	// fuelPerPath is for a request to the file system, which takes some ten microseconds. Each byte of a path costs one.
	fuelPerPath = 2000
	// fuelPerSync is for waiting until a disk has what was written, which takes about a millisecond.
	fuelPerSync = 1_000_000
)

// wasiPrices says which parameter of a function says how much there is to do, and what each costs.
var wasiPrices = map[string]struct {
	base   int64
	params []int
	each   int64
}{
	"fd_read": {0, []int{2}, fuelPerVector}, "fd_pread": {0, []int{2}, fuelPerVector},
	"fd_write": {0, []int{2}, fuelPerVector}, "fd_pwrite": {0, []int{2}, fuelPerVector},
	"poll_oneoff": {0, []int{2}, fuelPerEvent},
	"fd_readdir":  {fuelPerPath, []int{2}, 1},

	"path_open": {fuelPerPath, []int{3}, 1}, "path_filestat_get": {fuelPerPath, []int{3}, 1},
	"path_filestat_set_times": {fuelPerPath, []int{3}, 1}, "path_create_directory": {fuelPerPath, []int{2}, 1},
	"path_readlink": {fuelPerPath, []int{2}, 1}, "path_remove_directory": {fuelPerPath, []int{2}, 1},
	"path_unlink_file": {fuelPerPath, []int{2}, 1}, "path_rename": {fuelPerPath, []int{2, 5}, 1},
	"fd_sync": {fuelPerSync, nil, 0}, "fd_datasync": {fuelPerSync, nil, 0},
	"fd_filestat_set_size": {fuelPerPath, nil, 0}, "fd_allocate": {fuelPerPath, nil, 0},
	"path_symlink": {fuelPerPath, []int{1, 4}, 1}, "path_link": {fuelPerPath, []int{3, 6}, 1},
}

// wasiPrice is what a call of a function of WASI costs.
func wasiPrice(name string, params []uint64) int64 {
	price := wasiPrices[name]
	total := fuelPerCall + price.base
	for _, p := range price.params {
		total += int64(uint32(params[p])) * price.each
	}
	return total
}
