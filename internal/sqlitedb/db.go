package sqlitedb

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"modernc.org/sqlite"
)

// ErrClosed is returned by every call after Close.
var ErrClosed = errors.New("closed")

// Durability says what a transaction that was committed survives.
type Durability string

const (
	// Durable transactions survive a loss of power. Each waits for the disk.
	Durable Durability = "FULL"
	// Rebuildable ones survive a crash of the process; of the last ones, some may be gone after a loss of power.
	Rebuildable Durability = "NORMAL"
)

// DB is a database. It may be used concurrently: any number of readers, and one writer at a time.
type DB struct {
	name        string // what it is and where, for errors
	read, write *sql.DB

	// open is held by every call while it runs, and by Close.
	open   sync.RWMutex
	closed bool
}

// Open opens the database at path and brings its schema up to date. A file that is not there is made, readable to its
// owner alone, and so are folders.
func Open(ctx context.Context, path string, schema Schema, durability Durability) (*DB, error) {
	path, err := makeFile(path, schema.Name)
	if err != nil {
		return nil, err
	}
	d := &DB{name: schema.Name + " " + path}
	if d.write, err = connect(fileURI(path), 1, "_txlock=immediate", "_synchronous="+string(durability)); err != nil {
		return nil, err
	}
	if d.read, err = connect(fileURI(path), max(4, runtime.GOMAXPROCS(0)), "_query_only=1"); err != nil {
		return nil, errors.Join(err, d.write.Close())
	}
	if err := d.prepare(ctx, schema, true); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// OpenMemory makes a database that lives in memory, until Close. Readers and the writer take turns.
func OpenMemory(ctx context.Context, schema Schema) (*DB, error) {
	// The one connection is the database, so it must stay.
	write, err := connect("file::memory:", 1, "_txlock=immediate")
	if err != nil {
		return nil, err
	}
	d := &DB{name: schema.Name + " in memory", read: write, write: write}
	if err := d.prepare(ctx, schema, false); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// busyTimeout is how long a statement waits for another process that writes, in milliseconds. A context ends it sooner.
const busyTimeout = "5000"

func connect(uri string, connections int, parameters ...string) (*sql.DB, error) {
	parameters = append(parameters, "_busy_timeout="+busyTimeout,
		"_foreign_keys=1",
		"_dqs=0",                    // "name" in SQL is never a text
		"_defensive=1",              // SQL cannot damage the file
		"_pragma=trusted_schema(0)", // nor can a schema that a stranger made call what it likes
		"_error_rc=1")
	connector, err := sqlite.NewConnector(uri + "?" + strings.Join(parameters, "&"))
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// fileURI names a file so that no character of its path means anything else.
func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // C:/…
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// Read calls f with a view of the database that does not change until f returns.
func (d *DB) Read(ctx context.Context, f func(*sql.Tx) error) error {
	return d.transact(ctx, d.read, &sql.TxOptions{ReadOnly: true}, f)
}

// Write calls f with the one transaction that may write. Where f fails or panics, the context is over, or the commit
// fails, nothing of it was stored.
func (d *DB) Write(ctx context.Context, f func(*sql.Tx) error) error {
	return d.transact(ctx, d.write, nil, f)
}

func (d *DB) transact(ctx context.Context, db *sql.DB, options *sql.TxOptions, f func(*sql.Tx) error) error {
	d.open.RLock()
	defer d.open.RUnlock()
	if d.closed {
		return ErrClosed
	}
	tx, err := db.BeginTx(ctx, options)
	if err != nil {
		return d.explain(ctx, err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if err := f(tx); err != nil {
		return d.explain(ctx, err)
	}
	return d.explain(ctx, tx.Commit())
}

// Close waits for the calls that are under way, and closes the database. Closing it again does nothing.
func (d *DB) Close() error {
	d.open.Lock()
	defer d.open.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	return errors.Join(d.read.Close(), d.write.Close())
}
