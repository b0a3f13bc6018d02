// Package sqlite keeps the keys and values of package kv in an SQLite file:
//
//	store, err := sqlite.Open(ctx, "state/kv.db", kv.Options{})
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//
// The file and what SQLite puts beside it are readable to their owner alone; so are folders that are made for it. What Set
// returned a version for survives a loss of power. Several stores and processes may have one file open: readers never wait,
// writers take turns. The file must be on a local disk.
//
// A file that a newer program wrote is refused and left as it is; one of an older program is brought up to date when it is
// opened.
package sqlite
