package watch

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/weft-run/weft/internal/regularfile"
)

// errMoved says that a file is not what the survey found, or was changed while it was read.
var errMoved = errors.New("changed meanwhile")

func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// read computes the digest of what was found, and looks again whether it still is there.
func (f *folderSource) read(ctx context.Context, found state) (outcome, bool) {
	if found.err != nil {
		return outcome{err: found.err}, true
	}
	sum := sha256.New()
	known := map[string]knownFile{}
	for _, e := range found.entries {
		if !f.add(ctx, sum, e, known) {
			return outcome{}, false
		}
	}
	f.known = known
	if now := f.survey(ctx, nil); ctx.Err() != nil || !now.same(found) {
		return outcome{}, false
	}
	return outcome{digest: digest(sum.Sum(nil))}, true
}

// add adds an entry to a digest. Every part has a fixed length or its length before it, so that two folders that differ
// cannot be written the same. False: the entry is not what was found.
func (f *folderSource) add(ctx context.Context, sum hash.Hash, e entry, known map[string]knownFile) bool {
	mode := e.stamp.mode
	switch {
	case e.fault != "":
		put(sum, '!', e.name, "")
	case mode.IsDir():
		put(sum, 'd', e.name, "")
	case mode&fs.ModeSymlink != 0:
		put(sum, 'l', e.name, e.link)
	case !mode.IsRegular():
		put(sum, 'o', e.name, mode.Type().String())
	default:
		file, err := f.file(ctx, e)
		if errors.Is(err, errMoved) || ctx.Err() != nil {
			return false
		}
		if err != nil {
			put(sum, '!', e.name, "")
			return true
		}
		known[e.name] = file
		put(sum, 'f', e.name, string(file.digest[:]))
	}
	return true
}

func put(sum hash.Hash, kind byte, parts ...string) {
	sum.Write([]byte{kind})
	for _, part := range parts {
		sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		sum.Write([]byte(part))
	}
}

// file returns the digest of a file's contents, read only where that is needed.
func (f *folderSource) file(ctx context.Context, e entry) (knownFile, error) {
	if file, ok := f.known[e.name]; ok && file.stamp == e.stamp && e.stamp.tells(file.read) {
		return file, nil
	}
	start := time.Now()
	opened, info, err := regularfile.Open(filepath.Join(f.root, filepath.FromSlash(e.name)))
	if err != nil {
		if moved(err) {
			err = errMoved
		}
		return knownFile{}, err
	}
	defer opened.Close()
	before := stampOf(info)
	if !before.alike(e.stamp) {
		return knownFile{}, errMoved
	}
	sum := sha256.New()
	if n, err := io.Copy(sum, io.LimitReader(reader{ctx, opened}, before.size)); err != nil {
		return knownFile{}, err
	} else if n != before.size {
		return knownFile{}, errMoved
	}
	if info, err = opened.Stat(); err != nil || stampOf(info) != before {
		return knownFile{}, errMoved
	}
	return knownFile{stamp: e.stamp, read: start, digest: digest(sum.Sum(nil))}, nil
}
