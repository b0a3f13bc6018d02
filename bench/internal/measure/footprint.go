package measure

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// Footprint is what this process holds, in bytes.
type Footprint struct {
	// RSS counts the pages that are mapped and in memory; one that is mapped twice is counted twice.
	RSS int64
	// Private counts the pages that this process alone maps, once.
	Private int64
	// Own counts the memory that is taken: pages of no file, and those of files that lie in memory only. The latter are
	// counted for the whole machine, mapped or not, so that a difference is right only where nobody else makes such files.
	Own int64
}

// TakeFootprint looks at the process after its garbage was given back. It needs Linux.
func TakeFootprint() (Footprint, error) {
	runtime.GC()
	debug.FreeOSMemory()
	process, err := kilobytes("/proc/self/smaps_rollup")
	if err != nil {
		return Footprint{}, err
	}
	machine, err := kilobytes("/proc/meminfo")
	if err != nil {
		return Footprint{}, err
	}
	return Footprint{
		RSS:     process["Rss"],
		Private: process["Private_Clean"] + process["Private_Dirty"],
		Own:     process["Anonymous"] + machine["Shmem"],
	}, nil
}

// Less is the difference.
func (f Footprint) Less(other Footprint) Footprint {
	return Footprint{f.RSS - other.RSS, f.Private - other.Private, f.Own - other.Own}
}

// kilobytes reads a file of lines like "Rss:    5316 kB", and returns bytes by name.
func kilobytes(path string) (map[string]int64, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("memory is read from Linux's /proc: %w", err)
	}
	defer file.Close()
	out := map[string]int64{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		name, rest, _ := strings.Cut(lines.Text(), ":")
		var n int64
		if _, err := fmt.Sscanf(rest, "%d kB", &n); err == nil {
			out[name] = n << 10
		}
	}
	return out, lines.Err()
}

// MiB is a size in units of 1,048,576 bytes.
func MiB(n int64) float64 { return float64(n) / (1 << 20) }
