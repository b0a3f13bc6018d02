package watch

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// A state is what a survey found: nothing was read yet.
type state struct {
	entries []entry // a file: itself; a folder: everything in it, in order
	err     error   // why there is nothing that could be read
}

// An entry is one file, folder or link. It can be compared with ==.
type entry struct {
	name  string // from the watched folder, with slashes; empty for a watched file
	stamp stamp
	link  string // where a symbolic link leads
	fault string // why it cannot be listed, or not even be looked at
}

func (s state) same(other state) bool {
	if s.err != nil || other.err != nil {
		return s.err != nil && other.err != nil && s.err.Error() == other.err.Error()
	}
	return slices.Equal(s.entries, other.entries)
}

// A surveyor asks for notifications of the folders that a survey passes, before the survey looks into them: what changes
// afterwards is heard of. A nil surveyor asks for nothing.
type surveyor struct {
	thing  *thing
	places places
	deaf   bool // there are no notifications of a folder
}

// watch asks for notifications of a name in a folder.
func (s *surveyor) watch(folder, name string) {
	if s == nil || s.places[folder][name] {
		return
	}
	if s.places[folder] == nil {
		s.places[folder] = map[string]bool{}
	}
	s.places[folder][name] = true
	if !s.thing.watcher.notices.want(s.thing, folder, name) {
		s.deaf = true
	}
}

// maxLinks is how many symbolic links may be on the way to a file, as in Go's own path/filepath.
const maxLinks = 255

// cheapFolders says that watching a folder costs the same whatever it holds. On BSDs and macOS each file in it costs a
// descriptor, so folders are watched there that hold a link or the watched thing itself; what happens to others is found
// by the rescan.
var cheapFolders = runtime.GOOS == "linux" || runtime.GOOS == "windows"

// follow goes the way to what the path names as the system would, and watches it. It returns the path without links, as far
// as it is there.
func (s *surveyor) follow(path string) string {
	at, rest := split(path)
	links := 0
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		if cheapFolders || len(rest) == 0 {
			s.watch(at, name)
		}
		next := filepath.Join(at, name)
		info, err := os.Lstat(next)
		if err != nil {
			s.watch(at, name)
			return next
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			if at = next; !info.IsDir() {
				return at
			}
			continue
		}
		s.watch(at, name)
		target, err := os.Readlink(next)
		if links++; err != nil || links > maxLinks {
			return next
		}
		var more []string
		if filepath.IsAbs(target) {
			at, more = split(target)
		} else {
			more = components(target)
		}
		rest = append(more, rest...)
	}
	return at
}

// split parts an absolute path into the root and the names below it.
func split(path string) (root string, names []string) {
	volume := filepath.VolumeName(path)
	return volume + string(filepath.Separator), components(path[len(volume):])
}

func components(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
}
