package index

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/weft-run/weft/internal/sqlitedb"
)

// FolderOptions say how a folder is added. The zero value is a sound one.
type FolderOptions struct {
	// Prefix is put before the ids of the folder's documents, such as "handbook/". Each folder of an index needs its own:
	// what is there under the prefix and not in the folder goes. It has at most 200 bytes.
	Prefix string
	// MaxFiles is how many files the folder may hold: 0 stands for 10,000, a negative number for no limit.
	MaxFiles int
	// MaxFileSize is the size of a file, in bytes: 0 stands for 4 MiB, a negative number for no limit. Larger ones are
	// skipped.
	MaxFileSize int64
}

// maxPrefix is how long a prefix is at most, so that there is room for the paths.
const maxPrefix = 200

// FolderStats tell what AddFolder did.
type FolderStats struct {
	// Files is how many files of the folder are in the index now.
	Files int
	// Indexed is how many of them were new or had changed, and Passages how many documents they became.
	Indexed, Passages int
	// Removed is how many files went, because they are no longer there or are skipped now.
	Removed int
	// Skipped are the files that might have been indexed and were not.
	Skipped []SkippedFile
}

// SkippedFile is a file that was not indexed, and why.
type SkippedFile struct {
	// Path is relative to the folder, with slashes.
	Path string
	// Reason says why in a few words.
	Reason string
}

// AddFolder makes the index hold the folder as it is now: its files with names that end in .md, .markdown or .txt, in all
// its subfolders. Names that begin with a dot are passed over. Files are split into passages, by their headings and then by
// paragraphs, of about 1,000 bytes each. Those become documents with an ID such as "guide/grants.md#files", the title
// "guide/grants.md § Files", and the metadata path, heading and line. A heading is "# …"; what is written between two
// lines "---" at the beginning of a file is left out.
//
// Only files whose content changed are indexed again, and those that are gone are removed. Each file changes at once, and
// not all at once: searches see some new and some old ones meanwhile, and what ends AddFolder early leaves it so. What
// cannot be read keeps what is indexed of it, and is an error at the end. Nothing outside the folder is read: links are
// followed where they lead to a file in it. What is no regular file, is too large, or is no text in UTF-8 is skipped.
//
// Calls on one index take turns. A document of a file that was put or deleted by hand is made anew.
func (x *Index) AddFolder(ctx context.Context, folder *os.Root, options FolderOptions) (FolderStats, error) {
	if options.MaxFiles == 0 {
		options.MaxFiles = 10_000
	}
	if options.MaxFileSize == 0 {
		options.MaxFileSize = 4 << 20
	}
	if folder == nil {
		return FolderStats{}, fmt.Errorf("%w: a folder was wanted, and none is there", ErrInvalid)
	}
	if err := checkPrefix(options.Prefix); err != nil {
		return FolderStats{}, err
	}
	select {
	case x.folders <- struct{}{}:
		defer func() { <-x.folders }()
	case <-ctx.Done():
		return FolderStats{}, ctx.Err()
	}
	a := adding{index: x, folder: folder, options: options}
	if err := a.add(ctx); err != nil {
		return a.stats, err
	}
	return a.stats, a.errors.join()
}

func checkPrefix(prefix string) error {
	if len(prefix) > maxPrefix || !utf8.ValidString(prefix) || strings.Contains(prefix, "\x00") {
		return fmt.Errorf("%w: the prefix is %q: at most %d bytes of UTF-8 without NUL were wanted", ErrInvalid, cut(prefix, maxPrefix), maxPrefix)
	}
	return nil
}

// adding is one call of AddFolder.
type adding struct {
	index   *Index
	folder  *os.Root
	options FolderOptions
	stats   FolderStats
	errors  faults
	// known are the digests of the files that were indexed, by their paths. What is left at the end goes.
	known map[string]string
}

func (a *adding) add(ctx context.Context) error {
	if err := a.readKnown(ctx); err != nil {
		return err
	}
	found, err := a.find(ctx)
	if err != nil {
		return err
	}
	return a.update(ctx, found)
}

// update makes the index hold what was found, and what is known of folders that could not be listed.
func (a *adding) update(ctx context.Context, found found) error {
	listed := map[string]bool{}
	for _, path := range found.files {
		listed[path] = true
	}
	// What is gone makes room for what comes.
	for path := range a.known {
		if !listed[path] && !found.unread(path) {
			if err := a.remove(ctx, path); err != nil {
				return err
			}
		}
	}
	for _, path := range found.files {
		if err := a.file(ctx, path); err != nil {
			return err
		}
	}
	a.stats.Files += len(a.known) // what could not be read is there as it was
	return nil
}

func (a *adding) readKnown(ctx context.Context) error {
	a.known = map[string]string{}
	return a.index.read(ctx, func(tx *sql.Tx) error {
		return sqlitedb.Each(ctx, tx, func(rows *sql.Rows) (bool, error) {
			var path string
			var digest []byte
			err := rows.Scan(&path, &digest)
			a.known[path] = string(digest)
			return true, err
		}, "SELECT path, digest FROM files WHERE folder = ?", a.options.Prefix)
	})
}

// file brings one file up to date.
func (a *adding) file(ctx context.Context, path string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	data, reason, err := a.read(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return a.remove(ctx, path) // since the folder was listed
	case err != nil:
		a.errors.add(err) // and what is known of it stays
		return nil
	case reason != "":
		a.skip(path, reason)
		return a.remove(ctx, path)
	}
	digest := contentDigest(data)
	if a.known[path] != digest {
		if err := a.replace(ctx, path, digest, passages(path, string(data))); err != nil {
			return err
		}
	}
	a.stats.Files++
	delete(a.known, path)
	return nil
}

// contentDigest tells whether a file has to be indexed again. It is another one where this program splits files in another
// way than the one before.
func contentDigest(data []byte) string {
	h := sha256.New()
	h.Write([]byte("passages 1\n"))
	h.Write(data)
	return string(h.Sum(nil))
}

// replace puts the passages of a file in the place of those that it had.
func (a *adding) replace(ctx context.Context, path, digest string, all []passage) error {
	err := a.index.write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM files WHERE folder = ? AND path = ?", a.options.Prefix, path); err != nil {
			return err
		}
		file := sql.NullInt64{Valid: true}
		if err := tx.QueryRowContext(ctx, "INSERT INTO files (folder, path, digest) VALUES (?, ?, ?) RETURNING id",
			a.options.Prefix, path, []byte(digest)).Scan(&file.Int64); err != nil {
			return err
		}
		for _, p := range all {
			if err := put(ctx, tx, p.document(a.options.Prefix), file); err != nil {
				return err
			}
		}
		return a.index.checkTotal(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	a.stats.Indexed++
	a.stats.Passages += len(all)
	return nil
}

// remove takes a file out of the index, where it is in it.
func (a *adding) remove(ctx context.Context, path string) error {
	if _, there := a.known[path]; !there {
		return nil
	}
	err := a.index.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM files WHERE folder = ? AND path = ?", a.options.Prefix, path)
		return err
	})
	if err != nil {
		return err
	}
	a.stats.Removed++
	delete(a.known, path)
	return nil
}

func (a *adding) skip(path, reason string) {
	a.stats.Skipped = append(a.stats.Skipped, SkippedFile{Path: strings.ToValidUTF8(path, "\uFFFD"), Reason: reason})
}
