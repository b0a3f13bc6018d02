package watch

import (
	"io/fs"
	"time"
)

// A stamp tells two versions of a file apart without reading them. It can be compared with ==.
type stamp struct {
	mode     fs.FileMode
	size     int64
	modified int64 // Unix time in nanoseconds
	identity
}

// An identity is what only the system knows of a file. It is zero where the system does not say.
type identity struct {
	device, inode uint64
	changed       int64 // when the inode was changed last, which nobody can set; Unix time in nanoseconds
}

func stampOf(info fs.FileInfo) stamp {
	return stamp{
		mode:     info.Mode(),
		size:     info.Size(),
		modified: info.ModTime().UnixNano(),
		identity: identify(info),
	}
}

// alike compares without identities: some network and user-space file systems give a path and a descriptor of the same file
// different ones, and the inode changes also when the file loses its name.
func (s stamp) alike(other stamp) bool {
	return s.mode == other.mode && s.size == other.size && s.modified == other.modified
}

// coarsest is the granularity of the coarsest times that file systems keep (FAT: 2 s), and a little more.
const coarsest = 2500 * time.Millisecond

// tells reports whether the same stamp later means the same bytes as those that were read at the given time. A file that
// was changed shortly before could be changed again without another time on it.
func (s stamp) tells(read time.Time) bool {
	return s.inode != 0 && read.UnixNano()-max(s.modified, s.changed) > int64(coarsest)
}
