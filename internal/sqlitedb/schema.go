package sqlitedb

import (
	"context"
	"database/sql"
	"fmt"
)

// Schema is what a database of one kind looks like.
type Schema struct {
	// Name says what the database holds, for errors.
	Name string
	// ApplicationID tells files of this kind from all others. It is not 0.
	ApplicationID int32
	// Steps[n] is the SQL that makes version n+1 of version n. Version 0 is empty.
	Steps []string
}

// prepare makes the schema, or brings it up to date, or says why it cannot. A file that is of another kind, or newer, is
// left as it is.
func (d *DB) prepare(ctx context.Context, schema Schema, wal bool) error {
	if err := d.Read(ctx, func(tx *sql.Tx) error {
		_, err := d.version(ctx, tx, schema)
		return err
	}); err != nil {
		return err
	}
	if wal {
		if err := d.enterWAL(ctx); err != nil {
			return err
		}
	}
	return d.Write(ctx, func(tx *sql.Tx) error {
		version, err := d.version(ctx, tx, schema) // again: another process may have been faster
		if err != nil {
			return err
		}
		if version == len(schema.Steps) {
			return nil
		}
		for _, step := range schema.Steps[version:] {
			if _, err := tx.ExecContext(ctx, step); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d",
			schema.ApplicationID, len(schema.Steps)))
		return err
	})
}

// version says which version of the schema is there.
func (d *DB) version(ctx context.Context, tx *sql.Tx, schema Schema) (int, error) {
	var id int32
	var version, tables int
	if err := tx.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`).Scan(&id, &version, &tables); err != nil {
		return 0, err
	}
	switch {
	case id == 0 && version == 0 && tables == 0:
		return 0, nil
	case id != schema.ApplicationID || version < 1:
		return 0, fmt.Errorf("%s: the file is a database of something else (application id %d, and %d was wanted): choose another path",
			d.name, id, schema.ApplicationID)
	case version > len(schema.Steps):
		return 0, fmt.Errorf("%s: its schema has version %d, and this program knows versions up to %d: "+
			"use a program that is as new as the one that wrote it", d.name, version, len(schema.Steps))
	}
	return version, nil
}

// enterWAL switches to the write-ahead log, where readers and the writer do not wait for each other. The file remembers it.
func (d *DB) enterWAL(ctx context.Context) error {
	var mode string
	if err := d.write.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return d.explain(ctx, err)
	}
	if mode != "wal" {
		return fmt.Errorf("%s: a write-ahead log was wanted, and SQLite uses %q there: choose a path on a local disk", d.name, mode)
	}
	return nil
}
