package sqlitedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var notes = Schema{Name: "notes", ApplicationID: 17, Steps: []string{"CREATE TABLE notes (text TEXT NOT NULL) STRICT"}}

func open(t testing.TB, path string, schema Schema) *DB {
	t.Helper()
	d, err := Open(t.Context(), path, schema, Durable)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, d.Close()) })
	return d
}

func write(ctx context.Context, d *DB, text string) error {
	return d.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO notes VALUES (?)", text)
		return err
	})
}

func texts(t testing.TB, d *DB) (all string) {
	t.Helper()
	require.NoError(t, d.Read(context.Background(), func(tx *sql.Tx) error {
		return tx.QueryRow("SELECT coalesce(group_concat(text ORDER BY text), '') FROM notes").Scan(&all)
	}))
	return all
}

func TestADatabaseIsReadableToItsOwnerAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has other permissions")
	}
	path := filepath.Join(t.TempDir(), "a", "b", "notes.db")
	d := open(t, path, notes)
	require.NoError(t, write(t.Context(), d, "one"))
	for _, ending := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + ending)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), path+ending)
	}
	for _, folder := range []string{"a", "a/b"} {
		info, err := os.Stat(filepath.Join(filepath.Dir(path), "../..", folder))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o700), info.Mode().Perm(), folder)
	}
}

func TestAPathMeansNothingButItself(t *testing.T) {
	names := []string{"a?mode=memory.db", "a#b.db", "a%41.db", "a b.db", "größe.db", "it's.db", "a&_pragma=x.db", "file:x.db", ":memory:"}
	if runtime.GOOS == "windows" {
		names = []string{"a#b.db", "a%41.db", "a b.db", "größe.db", "it's.db"}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			d, err := Open(t.Context(), filepath.Join(folder, name), notes, Durable)
			require.NoError(t, err)
			require.NoError(t, write(t.Context(), d, "one"))
			require.NoError(t, d.Close())
			entries, err := os.ReadDir(folder)
			require.NoError(t, err)
			require.Len(t, entries, 1)
			require.Equal(t, name, entries[0].Name())
			require.Equal(t, "one", texts(t, open(t, filepath.Join(folder, name), notes)))
		})
	}
}

func TestWhatIsNoRegularFileIsRefused(t *testing.T) {
	folder := t.TempDir()
	_, err := Open(t.Context(), folder, notes, Durable)
	require.ErrorContains(t, err, "a regular file was wanted, and d")

	_, err = Open(t.Context(), "", notes, Durable)
	require.EqualError(t, err, "notes: a path was wanted, and none is there")

	require.NoError(t, os.WriteFile(filepath.Join(folder, "file"), nil, 0o600))
	_, err = Open(t.Context(), filepath.Join(folder, "file", "notes.db"), notes, Durable)
	require.ErrorContains(t, err, filepath.Join(folder, "file"))
}

func TestANewerSchemaIsRefusedWithBothVersionsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.db")
	newer := notes
	newer.Steps = append(newer.Steps[:1:1], "ALTER TABLE notes ADD COLUMN title TEXT", "ALTER TABLE notes ADD COLUMN author TEXT")
	d, err := Open(t.Context(), path, newer, Durable)
	require.NoError(t, err)
	require.NoError(t, d.Close())
	before, err := os.ReadFile(path)
	require.NoError(t, err)

	_, err = Open(t.Context(), path, notes, Durable)
	require.EqualError(t, err, "notes "+path+": its schema has version 3, and this program knows versions up to 1: "+
		"use a program that is as new as the one that wrote it")
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

func TestAnOlderSchemaIsBroughtUpToDate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.db")
	d, err := Open(t.Context(), path, notes, Durable)
	require.NoError(t, err)
	require.NoError(t, write(t.Context(), d, "one"))
	require.NoError(t, d.Close())

	broken := notes
	broken.Steps = []string{notes.Steps[0], "UPDATE notes SET text = 'changed'; INSERT INTO absent VALUES (1)"}
	_, err = Open(t.Context(), path, broken, Durable)
	require.ErrorContains(t, err, "no such table: absent")

	newer := notes
	newer.Steps = []string{notes.Steps[0], "INSERT INTO notes VALUES ('two')"}
	require.Equal(t, "one,two", texts(t, open(t, path, newer)), "the step that failed left nothing, and the new one ran")
	require.Equal(t, "one,two", texts(t, open(t, path, newer)), "and it ran once")
}

func TestAFileOfSomethingElseIsLeftAsItIs(t *testing.T) {
	folder := t.TempDir()
	foreign := filepath.Join(folder, "foreign.db")
	db, err := connect(fileURI(foreign), 1)
	require.NoError(t, err)
	_, err = db.Exec("CREATE TABLE things (thing TEXT)")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	text := filepath.Join(folder, "text.md")
	require.NoError(t, os.WriteFile(text, []byte(strings.Repeat("# Not a database\n", 100)), 0o644))
	other := filepath.Join(folder, "other.db")
	d, err := Open(t.Context(), other, Schema{Name: "other", ApplicationID: 18, Steps: notes.Steps}, Durable)
	require.NoError(t, err)
	require.NoError(t, d.Close())

	for path, want := range map[string]string{
		foreign: "the file is a database of something else (application id 0, and 17 was wanted): choose another path",
		other:   "the file is a database of something else (application id 18, and 17 was wanted): choose another path",
		text:    "file is not a database (26): choose another path",
	} {
		before, err := os.ReadFile(path)
		require.NoError(t, err)
		_, err = Open(t.Context(), path, notes, Durable)
		require.EqualError(t, err, "notes "+path+": "+want)
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, before, after)
	}
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, entries, 3, "nothing was put beside them")
}

func TestManyMayOpenANewDatabaseAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.db")
	var group sync.WaitGroup
	for i := range 12 {
		group.Go(func() {
			d, err := Open(t.Context(), path, notes, Durable)
			if assert.NoError(t, err) {
				assert.NoError(t, write(t.Context(), d, fmt.Sprintf("%02d", i)))
				assert.NoError(t, d.Close())
			}
		})
	}
	group.Wait()
	require.Equal(t, "00,01,02,03,04,05,06,07,08,09,10,11", texts(t, open(t, path, notes)))
}

func TestAFullDiskIsToldAndWhatWasThereStays(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), "notes.db"), notes)
	require.NoError(t, write(t.Context(), d, "one"))
	_, err := d.write.Exec("PRAGMA max_page_count = 1") // no less than there are
	require.NoError(t, err)

	err = write(t.Context(), d, strings.Repeat("x", 1<<20))
	require.EqualError(t, err, d.name+": database or disk is full (13): nothing of this was stored: free space on the disk")
	require.Equal(t, "one", texts(t, d))

	_, err = d.write.Exec("PRAGMA max_page_count = 1000000")
	require.NoError(t, err)
	require.NoError(t, write(t.Context(), d, "two"), "it works again where there is space again")
	require.Equal(t, "one,two", texts(t, d))
}

func TestAReadOnlyDatabaseIsToldAndWhatWasThereStays(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), "notes.db"), notes)
	require.NoError(t, write(t.Context(), d, "one"))
	_, err := d.write.Exec("PRAGMA query_only = 1")
	require.NoError(t, err)
	require.EqualError(t, write(t.Context(), d, "two"), d.name+": attempt to write a readonly database (8): "+
		"nothing of this was stored: make the file and its folder writable")
	require.Equal(t, "one", texts(t, d))
}

func TestAReaderCannotWrite(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), "notes.db"), notes)
	require.ErrorContains(t, d.Read(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec("INSERT INTO notes VALUES ('one')")
		return err
	}), "attempt to write a readonly database")
}

func TestATransactionIsAllOrNothing(t *testing.T) {
	memory, err := OpenMemory(t.Context(), notes)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, memory.Close()) })
	for kind, d := range map[string]*DB{"file": open(t, filepath.Join(t.TempDir(), "notes.db"), notes), "memory": memory} {
		t.Run(kind, func(t *testing.T) {
			require.NoError(t, write(t.Context(), d, "one"))
			insert := func(tx *sql.Tx) {
				_, err := tx.Exec("INSERT INTO notes VALUES ('two')")
				require.NoError(t, err)
			}
			cause := errors.New("cause")
			require.Equal(t, cause, d.Write(t.Context(), func(tx *sql.Tx) error { insert(tx); return cause }))
			require.Panics(t, func() {
				_ = d.Write(t.Context(), func(tx *sql.Tx) error { insert(tx); panic("at the disco") })
			})

			ctx, cancel := context.WithCancel(t.Context())
			require.Equal(t, context.Canceled, d.Write(ctx, func(tx *sql.Tx) error { insert(tx); cancel(); return nil }))
			require.Equal(t, context.Canceled, write(ctx, d, "three"))
			require.Equal(t, context.Canceled, d.Read(ctx, func(*sql.Tx) error { return nil }))

			// A statement that is ended in the middle.
			ctx, cancel = context.WithCancel(t.Context())
			require.Equal(t, context.Canceled, d.Write(ctx, func(tx *sql.Tx) error {
				insert(tx)
				rows, err := tx.QueryContext(ctx, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT i FROM n")
				if err != nil {
					return err
				}
				defer rows.Close()
				for rows.Next() {
					cancel()
				}
				return rows.Err()
			}))
			require.Equal(t, "one", texts(t, d))
			require.NoError(t, write(t.Context(), d, "four"))
			require.Equal(t, "four,one", texts(t, d))
		})
	}
}

func TestAWaitForTheWriterEndsWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.db")
	d, another := open(t, path, notes), open(t, path, notes)
	require.NoError(t, d.Write(t.Context(), func(*sql.Tx) error {
		for _, waiting := range []*DB{d, another} {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error)
			go func() { done <- write(ctx, waiting, "two") }()
			cancel()
			require.Equal(t, context.Canceled, <-done)
		}
		return nil
	}))
	require.Empty(t, texts(t, d))
}

func TestCloseWaitsForWhatIsUnderWay(t *testing.T) {
	d, err := Open(t.Context(), filepath.Join(t.TempDir(), "notes.db"), notes, Durable)
	require.NoError(t, err)
	begun, closed := make(chan struct{}), make(chan error)
	go func() {
		<-begun
		closed <- d.Close()
	}()
	require.NoError(t, d.Write(t.Context(), func(tx *sql.Tx) error {
		close(begun)
		_, err := tx.Exec("INSERT INTO notes VALUES ('one')")
		return err
	}))
	require.NoError(t, <-closed)
	require.NoError(t, d.Close())
	require.Equal(t, ErrClosed, write(t.Context(), d, "two"))
	require.Equal(t, ErrClosed, d.Read(t.Context(), func(*sql.Tx) error { return nil }))
}
