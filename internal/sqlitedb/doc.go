// Package sqlitedb opens SQLite databases the way the host keeps them: in write-ahead mode, with one writer, with a schema
// whose version is checked, in files that nobody else may read.
package sqlitedb
