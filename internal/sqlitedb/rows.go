package sqlitedb

import (
	"context"
	"database/sql"
)

// Each calls f with every row of a query, until f wants no more or fails.
func Each(ctx context.Context, tx *sql.Tx, f func(*sql.Rows) (more bool, err error), query string, args ...any) (err error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() {
		if failed := rows.Close(); err == nil {
			err = failed
		}
	}()
	for rows.Next() {
		if more, err := f(rows); err != nil || !more {
			return err
		}
	}
	return rows.Err()
}
