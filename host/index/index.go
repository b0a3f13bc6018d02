package index

import (
	"context"
	"database/sql"
	"errors"

	"github.com/weft-run/weft/internal/sqlitedb"
)

// Unlimited takes a limit away.
const Unlimited = -1

// Options are those of an index. The zero value is a sound one.
type Options struct {
	// MaxDocuments is how many documents, passages of files included, there may be: 0 stands for 100,000.
	MaxDocuments int
	// MaxText is the size of one document's text, in bytes: 0 stands for 1 MiB.
	MaxText int
}

// Index is an index of documents. All methods may be called concurrently. Searches do not wait for writers, nor see what
// they have not finished; an index in memory lets them take turns. A context that is over ends a call with that context's
// error. After Close, calls fail with ErrClosed.
type Index struct {
	db      *sqlitedb.DB
	options Options
	// folders holds a token for each AddFolder that may run.
	folders chan struct{}
}

// Open opens the index in the file at path, and makes it where there is none; where path is empty or ":memory:", the index
// lives in memory until Close. The file, and folders that are made for it, are readable to their owner alone. It must be on
// a local disk. A file that a newer program wrote is refused and left as it is.
func Open(ctx context.Context, path string, options Options) (*Index, error) {
	if options.MaxDocuments == 0 {
		options.MaxDocuments = 100_000
	}
	if options.MaxText == 0 {
		options.MaxText = 1 << 20
	}
	x := &Index{options: options, folders: make(chan struct{}, 1)}
	var err error
	if path == "" || path == ":memory:" {
		x.db, err = sqlitedb.OpenMemory(ctx, schema)
	} else {
		// What is lost with the power can be indexed again.
		x.db, err = sqlitedb.Open(ctx, path, schema, sqlitedb.Rebuildable)
	}
	if err != nil {
		return nil, err
	}
	return x, nil
}

// Count returns how many documents there are, passages of files included.
func (x *Index) Count(ctx context.Context) (int, error) {
	count := 0
	err := x.read(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, "SELECT documents FROM total").Scan(&count)
	})
	return count, err
}

// Close waits for the calls that are under way, and closes the index. Closing it again does nothing.
func (x *Index) Close() error { return x.db.Close() }

func (x *Index) read(ctx context.Context, f func(*sql.Tx) error) error {
	return known(x.db.Read(ctx, f))
}

func (x *Index) write(ctx context.Context, f func(*sql.Tx) error) error {
	return known(x.db.Write(ctx, f))
}

// known puts an error of the database in the words of this package.
func known(err error) error {
	if errors.Is(err, sqlitedb.ErrClosed) {
		return ErrClosed
	}
	return err
}
