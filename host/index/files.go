package index

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// found is what a folder holds.
type found struct {
	// files are the paths of files that may be indexed, in the order of the walk.
	files []string
	// unlisted are the paths of folders that could not be listed.
	unlisted []string
}

// unread says whether a file is in a folder that could not be listed, and may be there still.
func (f found) unread(path string) bool {
	return slices.ContainsFunc(f.unlisted, func(folder string) bool { return strings.HasPrefix(path, folder+"/") })
}

// find lists the files that may be indexed, without opening them.
func (a *adding) find(ctx context.Context) (found, error) {
	var f found
	err := fs.WalkDir(a.folder.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && name == ".":
			return err
		case err != nil:
			a.errors.add(err)
			f.unlisted = append(f.unlisted, name)
			return nil
		case name != "." && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir() || !isText(name):
			return nil
		}
		if reason := a.unfit(name); reason != "" {
			a.skip(name, reason)
			return nil
		}
		if f.files = append(f.files, name); a.options.MaxFiles >= 0 && len(f.files) > a.options.MaxFiles {
			return &LimitError{Limit: "files", Value: a.options.MaxFiles, Seen: len(f.files), Option: "FolderOptions.MaxFiles"}
		}
		return nil
	})
	return f, err
}

func isText(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".txt":
		return true
	}
	return false
}

// unfit says why a file cannot be indexed, as far as can be told without opening it.
func (a *adding) unfit(name string) string {
	if !utf8.ValidString(name) {
		return "its name is not valid UTF-8"
	}
	if len(a.options.Prefix)+len(name) > MaxID-maxAnchor {
		return fmt.Sprintf("its path is longer than %d bytes", MaxID-maxAnchor-len(a.options.Prefix))
	}
	info, err := a.folder.Stat(name) // where a link leads to, unless that is outside
	switch {
	case err != nil && a.isLink(name):
		return "it is a link that leads to no file in the folder"
	case err != nil:
		return "" // reading it will tell
	case !info.Mode().IsRegular():
		return "it is no regular file"
	}
	return ""
}

func (a *adding) isLink(name string) bool {
	info, err := a.folder.Lstat(name)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}

// read reads a file, once: what is digested is what is indexed. Or it says why it is skipped.
func (a *adding) read(name string) (data []byte, reason string, err error) {
	f, err := a.folder.Open(name)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, "", err
	}
	if !info.Mode().IsRegular() { // any more
		return nil, "it is no regular file", nil
	}
	var in io.Reader = f
	limit := a.options.MaxFileSize
	if limit >= 0 {
		in = io.LimitReader(f, limit+1)
	}
	if data, err = io.ReadAll(in); err != nil {
		return nil, "", err
	}
	switch {
	case limit >= 0 && int64(len(data)) > limit:
		return nil, fmt.Sprintf("it is larger than %d bytes", limit), nil
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return nil, "it is no text in UTF-8", nil
	}
	return data, "", nil
}
