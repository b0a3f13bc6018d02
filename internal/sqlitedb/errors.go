package sqlitedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// remedies say what to do about what SQLite reports.
var remedies = map[int]string{
	sqlite3.SQLITE_FULL:     "nothing of this was stored: free space on the disk",
	sqlite3.SQLITE_READONLY: "nothing of this was stored: make the file and its folder writable",
	sqlite3.SQLITE_IOERR:    "nothing of this was stored: look at the disk",
	sqlite3.SQLITE_BUSY:     "another process holds it: try again later",
	sqlite3.SQLITE_CANTOPEN: "look at the permissions of the file and its folder",
	sqlite3.SQLITE_NOTADB:   "choose another path",
	sqlite3.SQLITE_CORRUPT:  "put back a copy of the file, or move it away to begin anew",
}

// explain adds to an error of SQLite where it happened and what to do. What a context ended is that context's error. Other
// errors stay as they are.
func (d *DB) explain(ctx context.Context, err error) error {
	var fault *sqlite.Error
	known := errors.As(err, &fault)
	code := 0
	if known {
		code = fault.Code() & 0xff
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && (code == sqlite3.SQLITE_INTERRUPT || code == sqlite3.SQLITE_BUSY || errors.Is(err, sql.ErrTxDone)):
		return ctx.Err()
	case !known:
		return err
	case remedies[code] != "":
		return fmt.Errorf("%s: %w: %s", d.name, err, remedies[code])
	}
	return fmt.Errorf("%s: %w", d.name, err)
}
