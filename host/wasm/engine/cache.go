package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// diskCache keeps compiled code in a folder: <dir>/<version>/<digest>/, which holds the files of the runtime and a seal,
// the digests of those files. What it holds is run as native code, so that the folder must be ours alone, and an entry
// is used only where it fits its seal. The seal is against damage and accident; against an attacker who can write to the
// folder there is only the check of its owner and mode.
//
// Entries are written aside and renamed, so that processes may share a folder.
type diskCache struct {
	dir string
	// kind is how modules are compiled, where that is not the usual way.
	kind string
	log  *slog.Logger
	open sync.Once
	ok   bool
}

// cacheVersion changes when what is kept in an entry changes: the meter, the kernel, or how they are put together.
const cacheVersion = "2"

const sealFile = "seal.json"

// seal is the content of the seal file.
type seal struct {
	Digest string            `json:"digest"`
	Files  map[string]string `json:"files"` // sha256 by path, with slashes
}

func newDiskCache(dir, kind string, log *slog.Logger) *diskCache {
	return &diskCache{dir: dir, kind: kind, log: log}
}

// runtimeVersion is the version of wazero that go.mod asks for. It stands in where a build says nothing about its
// dependencies.
const runtimeVersion = "v1.12.0"

// engineVersion names what compiled code depends on, beside the module.
func engineVersion() string {
	version := runtimeVersion
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range build.Deps {
			if dep.Path == "github.com/tetratelabs/wazero" {
				version = dep.Version
				if dep.Replace != nil {
					version += "-replaced-" + dep.Replace.Version
				}
			}
		}
	}
	return fmt.Sprintf("v%s-wazero-%s-%s-%s", cacheVersion, version, runtime.GOOS, runtime.GOARCH)
}

// usable creates and checks the folder, once. A folder that is not to be used gives one warning.
func (c *diskCache) usable() bool {
	if c.dir == "" {
		return false
	}
	c.open.Do(func() {
		err := os.MkdirAll(c.dir, 0o700)
		if err == nil {
			err = checkOwned(c.dir)
		}
		versioned := c.versioned()
		if err == nil {
			if err = os.Mkdir(versioned, 0o700); errors.Is(err, fs.ErrExist) {
				err = nil
			}
		}
		if err == nil {
			err = checkOwned(versioned)
		}
		if err != nil {
			c.log.Warn("compile cache not used", "dir", c.dir, "error", err)
			return
		}
		sweep(versioned)
		c.ok = true
	})
	return c.ok
}

// asidePrefix begins the names of entries that are being written.
const asidePrefix = ".new-"

// sweep removes what processes that died left aside. Nobody compiles for a day.
func sweep(versioned string) {
	left, err := filepath.Glob(filepath.Join(versioned, asidePrefix+"*"))
	if err != nil {
		return
	}
	for _, path := range left {
		if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
			_ = os.RemoveAll(path) // What cannot be removed does no harm.
		}
	}
}

// cacheEntry is a folder for the runtime to read from or to write to.
type cacheEntry struct {
	cache  *diskCache
	digest string
	dir    string
	fresh  bool // dir lies aside, and is to be sealed and put in its place
}

// look starts to verify the entry for a digest. It takes some milliseconds to read what is there, in which other things
// can be done.
func (c *diskCache) look(digest string) <-chan error {
	found := make(chan error, 1)
	if !c.usable() {
		return found
	}
	go func() { found <- verify(c.place(digest), digest) }()
	return found
}

// entry returns the entry for a digest, or a fresh one aside, or nil where there is no cache. Look was called for that
// digest before. Either keep or drop must follow.
func (c *diskCache) entry(digest string, found <-chan error) *cacheEntry {
	if !c.usable() {
		return nil
	}
	place := c.place(digest)
	err := <-found
	if err == nil {
		return &cacheEntry{cache: c, digest: digest, dir: place}
	}
	if !errors.Is(err, fs.ErrNotExist) {
		c.log.Warn("compile cache entry removed", "entry", place, "error", err)
		if err := os.RemoveAll(place); err != nil {
			c.log.Warn("compile cache entry cannot be removed", "entry", place, "error", err)
			return nil
		}
	}
	aside, err := os.MkdirTemp(filepath.Dir(place), asidePrefix+"*")
	if err != nil {
		c.log.Warn("compile cache cannot be written", "error", err)
		return nil
	}
	return &cacheEntry{cache: c, digest: digest, dir: aside, fresh: true}
}

func (c *diskCache) place(digest string) string {
	return filepath.Join(c.versioned(), digest)
}

// versioned is the folder of the entries that this version can use.
func (c *diskCache) versioned() string { return filepath.Join(c.dir, engineVersion()+c.kind) }

// keep seals a fresh entry and puts it in its place.
func (e *cacheEntry) keep() {
	if !e.fresh {
		return
	}
	err := e.seal()
	if err == nil {
		err = os.Rename(e.dir, e.cache.place(e.digest))
		if errors.Is(err, fs.ErrExist) {
			err = nil // Another process was faster.
			e.drop()
		}
	}
	if err != nil {
		e.cache.log.Warn("compile cache cannot be written", "error", err)
		e.drop()
	}
}

// drop removes an entry that was of no use, in its place or aside.
func (e *cacheEntry) drop() {
	if err := os.RemoveAll(e.dir); err != nil {
		e.cache.log.Warn("compile cache cannot be written", "error", err)
	}
}

func (e *cacheEntry) seal() error {
	files, err := digests(e.dir)
	if err != nil {
		return err
	}
	text, err := json.Marshal(seal{Digest: e.digest, Files: files})
	if err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(e.dir, sealFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Sync(), file.Close())
}

// verify says whether the entry at a place is as it was sealed. fs.ErrNotExist means that there is none.
func verify(place, digest string) error {
	if err := checkOwned(place); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(place, sealFile))
	if err != nil {
		return errors.New("no seal: " + err.Error()) // not wrapped: the entry is there, and at fault
	}
	var s seal
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("seal: %w", err)
	}
	if s.Digest != digest {
		return fmt.Errorf("sealed for %s", s.Digest)
	}
	files, err := digests(place)
	if err != nil {
		return errors.New("reading: " + err.Error())
	}
	if len(files) == 0 || !maps.Equal(files, s.Files) {
		return errors.New("does not fit its seal")
	}
	return nil
}

// digests returns the digest of each file below dir, the seal excepted. Anything but files and folders is an error.
func digests(dir string) (map[string]string, error) {
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return nil
		case !d.Type().IsRegular():
			return fmt.Errorf("%s is no file", path)
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || name == sealFile {
			return err
		}
		files[filepath.ToSlash(name)], err = digestFile(path)
		return err
	})
	return files, err
}

func digestFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
