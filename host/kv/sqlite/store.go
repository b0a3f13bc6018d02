package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host/kv"
	"github.com/weft-run/weft/internal/sqlitedb"
)

// Store is a kv.Store in a file. Make it with Open.
type Store struct {
	db  *sqlitedb.DB
	now func() time.Time
}

var _ kv.Store = (*Store)(nil)

// Open opens the store at path, and makes it where there is none.
func Open(ctx context.Context, path string, options kv.Options) (*Store, error) {
	db, err := sqlitedb.Open(ctx, path, schema, sqlitedb.Durable)
	if err != nil {
		return nil, err
	}
	return &Store{db: db, now: options.Clock()}, nil
}

// Close implements kv.Store.
func (s *Store) Close() error { return s.db.Close() }

// Get implements kv.Store.
func (s *Store) Get(ctx context.Context, ns kv.Namespace, key string) (kv.Entry, bool, error) {
	if err := kv.CheckGet(ns, key); err != nil {
		return kv.Entry{}, false, err
	}
	e := kv.Entry{Key: key}
	found := false
	err := s.db.Read(ctx, func(tx *sql.Tx) error {
		var value []byte
		err := tx.QueryRowContext(ctx, `SELECT e.value, e.version FROM namespaces n JOIN entries e ON e.namespace = n.id
			WHERE n.agent = ? AND n.plugin = ? AND n.scope = ? AND n.session = ? AND e.key = ?
				AND (e.expires IS NULL OR e.expires > ?)`,
			ns.Agent, ns.Plugin, ns.Scope, ns.Session, key, s.now().UnixMilli()).Scan(&value, &e.Version)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		e.Value, found = value, true
		return err
	})
	if err != nil || !found {
		return kv.Entry{}, false, known(err)
	}
	return e, true, nil
}

// Set implements kv.Store.
func (s *Store) Set(ctx context.Context, ns kv.Namespace, key string, value jsontext.Value, options kv.SetOptions) (int64, error) {
	if err := kv.CheckSet(ns, key, value, options); err != nil {
		return 0, err
	}
	var version int64
	err := s.db.Write(ctx, func(tx *sql.Tx) (err error) {
		version, err = s.set(ctx, tx, ns, key, value, options)
		return err
	})
	if err != nil {
		return 0, known(err)
	}
	return version, nil
}

func (s *Store) set(ctx context.Context, tx *sql.Tx, ns kv.Namespace, key string, value jsontext.Value, options kv.SetOptions) (int64, error) {
	now := s.now()
	id, err := addNamespace(ctx, tx, ns)
	if err != nil {
		return 0, err
	}
	if err := expire(ctx, tx, id, now); err != nil {
		return 0, err
	}
	var before kv.Usage
	var version int64
	if err := tx.QueryRowContext(ctx, "SELECT keys, bytes, version + 1 FROM namespaces WHERE id = ?", id).
		Scan(&before.Keys, &before.Bytes, &version); err != nil {
		return 0, err
	}
	var have, size int64
	err = tx.QueryRowContext(ctx, "SELECT version, octet_length(value) FROM entries WHERE namespace = ? AND key = ?", id, key).Scan(&have, &size)
	after := kv.Usage{Keys: before.Keys, Bytes: before.Bytes + int64(len(value)) - size}
	switch {
	case errors.Is(err, sql.ErrNoRows):
		after.Keys++
		after.Bytes += int64(len(key))
	case err != nil:
		return 0, err
	}
	if err := kv.CheckVersion(key, options.IfVersion, have); err != nil {
		return 0, err
	}
	if err := options.Limits.CheckUsage(before, after); err != nil {
		return 0, err
	}
	var expires sql.NullInt64
	expires.Int64, expires.Valid = options.Expiry(now)
	if _, err := tx.ExecContext(ctx, `INSERT INTO entries (namespace, key, value, version, expires) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value, version = excluded.version, expires = excluded.expires`,
		id, key, string(value), version, expires); err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, "UPDATE namespaces SET version = ? WHERE id = ?", version, id)
	return version, err
}

// addNamespace returns the id of a namespace, which is made where it is not there yet.
func addNamespace(ctx context.Context, tx *sql.Tx, ns kv.Namespace) (int64, error) {
	id, err := findNamespace(ctx, tx, ns)
	if id != 0 || err != nil {
		return id, err
	}
	return id, tx.QueryRowContext(ctx, `INSERT INTO namespaces (agent, plugin, scope, session, version)
		VALUES (?, ?, ?, ?, (SELECT version FROM floor)) RETURNING id`, ns.Agent, ns.Plugin, ns.Scope, ns.Session).Scan(&id)
}

// findNamespace returns the id of a namespace, or 0 where it is not there.
func findNamespace(ctx context.Context, tx *sql.Tx, ns kv.Namespace) (id int64, err error) {
	err = tx.QueryRowContext(ctx, "SELECT id FROM namespaces WHERE agent = ? AND plugin = ? AND scope = ? AND session = ?",
		ns.Agent, ns.Plugin, ns.Scope, ns.Session).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return id, err
}

// expire takes away what has expired: all of the namespace, so that it does not count, and some of others, which nobody may
// use any more.
func expire(ctx context.Context, tx *sql.Tx, id int64, now time.Time) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM entries WHERE namespace = ? AND expires <= ?", id, now.UnixMilli()); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM entries WHERE id IN (SELECT id FROM entries WHERE expires <= ? ORDER BY expires LIMIT 100)",
		now.UnixMilli())
	return err
}

// Delete implements kv.Store.
func (s *Store) Delete(ctx context.Context, ns kv.Namespace, key string, ifVersion *int64) (bool, error) {
	if err := kv.CheckDelete(ns, key, ifVersion); err != nil {
		return false, err
	}
	found := false
	err := s.db.Write(ctx, func(tx *sql.Tx) error {
		var id, version int64
		err := tx.QueryRowContext(ctx, `SELECT e.id, e.version FROM namespaces n JOIN entries e ON e.namespace = n.id
			WHERE n.agent = ? AND n.plugin = ? AND n.scope = ? AND n.session = ? AND e.key = ?
				AND (e.expires IS NULL OR e.expires > ?)`,
			ns.Agent, ns.Plugin, ns.Scope, ns.Session, key, s.now().UnixMilli()).Scan(&id, &version)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err := kv.CheckVersion(key, ifVersion, version); err != nil {
			return err
		}
		found = id != 0
		_, err = tx.ExecContext(ctx, "DELETE FROM entries WHERE id = ?", id)
		return err
	})
	if err != nil {
		return false, known(err)
	}
	return found, nil
}

// List implements kv.Store.
func (s *Store) List(ctx context.Context, ns kv.Namespace, options kv.ListOptions) ([]kv.Entry, bool, error) {
	options, err := kv.CheckList(ns, options)
	if err != nil {
		return nil, false, err
	}
	var page []kv.Entry
	more := false
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		bytes := 0
		row := func(rows *sql.Rows) (bool, error) {
			if len(page) == options.Limit || bytes >= kv.PageBytes {
				more = true
				return false, nil
			}
			var e kv.Entry
			var value []byte
			if err := rows.Scan(&e.Key, &value, &e.Version); err != nil {
				return false, err
			}
			e.Value = value
			bytes += len(value)
			page = append(page, e)
			return true, nil
		}
		// All keys that begin with the prefix stand between it and itself with a byte that no UTF-8 contains. The next key
		// that could follow another one is that with a NUL, which is none. One bound each lets SQLite begin there.
		return sqlitedb.Each(ctx, tx, row, `SELECT e.key, CASE WHEN ? THEN e.value END, e.version
			FROM namespaces n JOIN entries e ON e.namespace = n.id
			WHERE n.agent = ? AND n.plugin = ? AND n.scope = ? AND n.session = ?
				AND e.key >= ? AND e.key < ? AND (e.expires IS NULL OR e.expires > ?)
			ORDER BY e.key LIMIT ?`,
			options.Values, ns.Agent, ns.Plugin, ns.Scope, ns.Session,
			max(options.Prefix, options.After+"\x00"), options.Prefix+"\xff", s.now().UnixMilli(), options.Limit+1)
	})
	if err != nil {
		return nil, false, known(err)
	}
	return page, more, nil
}

// Clear implements kv.Store.
func (s *Store) Clear(ctx context.Context, ns kv.Namespace) (int, error) {
	if err := kv.CheckClear(ns); err != nil {
		return 0, err
	}
	count := 0
	err := s.db.Write(ctx, func(tx *sql.Tx) error {
		id, err := findNamespace(ctx, tx, ns)
		if id == 0 || err != nil {
			return err
		}
		if err := expire(ctx, tx, id, s.now()); err != nil {
			return err
		}
		if err := tx.QueryRowContext(ctx, "SELECT keys FROM namespaces WHERE id = ?", id).Scan(&count); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE floor SET version = max(version, (SELECT version FROM namespaces WHERE id = ?))", id); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM namespaces WHERE id = ?", id)
		return err
	})
	if err != nil {
		return 0, known(err)
	}
	return count, nil
}

// known puts an error of the database in the words of package kv.
func known(err error) error {
	if errors.Is(err, sqlitedb.ErrClosed) {
		return kv.ErrClosed
	}
	return err
}
