package main

import (
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/weft-run/weft/pdk/go"
)

// What is read at most. A folder of 4 MiB takes 50 MiB while it is indexed, and a plugin in Go has 64 MiB as a rule.
const (
	maxFiles     = 2000
	maxFileBytes = 1 << 20
	maxAllBytes  = 4 << 20
)

// openFolder is how a folder is reached; tests set it.
var openFolder = func(folder string) fs.FS { return os.DirFS(folder) }

// file is one Markdown file.
type file struct {
	name string // relative to the folder
	text string
}

// readFolder reads the Markdown files of a folder, in the order of their names. What is beyond the limits is left out,
// and logged.
func readFolder(folder string) ([]file, error) {
	var files []file
	var total int
	var left []string
	err := fs.WalkDir(openFolder(folder), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			left = append(left, name+" (cannot be read)")
			return nil //nolint:nilerr // what cannot be read is left out, and told
		case entry.IsDir() && name != "." && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case entry.IsDir() || !entry.Type().IsRegular() || !isMarkdown(name):
			return nil
		case len(files) == maxFiles:
			left = append(left, name+" (more than "+strconv.Itoa(maxFiles)+" files)")
			return nil
		}
		info, err := entry.Info()
		if err == nil && info.Size() > maxFileBytes {
			left = append(left, name+" (larger than "+strconv.Itoa(maxFileBytes)+" bytes)")
			return nil
		}
		if err == nil && total+int(info.Size()) > maxAllBytes {
			left = append(left, name+" (more than "+strconv.Itoa(maxAllBytes)+" bytes in all)")
			return nil
		}
		data, err := fs.ReadFile(openFolder(folder), name)
		if err != nil {
			left = append(left, name+" (cannot be read)")
			return nil //nolint:nilerr // what cannot be read is left out, and told
		}
		total += len(data)
		files = append(files, file{name: name, text: strings.ToValidUTF8(string(data), "\uFFFD")})
		return nil
	})
	if err != nil {
		pdk.LogError("folder " + folder + ": " + err.Error()) // in words that differ from system to system
		return nil, pdk.NewError(pdk.CodeUnavailable, "folder "+folder+
			" cannot be read; grant it to the plugin: files: [{host: ./docs, guest: "+folder+", mode: ro}]")
	}
	if len(left) > 0 {
		pdk.LogWarn("left out of the index: " + strings.Join(left[:min(len(left), 5)], ", ") + more(len(left)-5))
	}
	if len(files) == 0 {
		pdk.LogWarn("there is no Markdown file in " + folder + ", so no passage will ever be found")
	}
	return files, nil
}

func more(count int) string {
	if count <= 0 {
		return ""
	}
	return " and " + strconv.Itoa(count) + " more"
}

func isMarkdown(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown":
		return true
	}
	return false
}
