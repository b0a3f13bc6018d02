package sqlite

import "github.com/weft-run/weft/internal/sqlitedb"

// schema of the file. Keys are compared byte for byte, as SQLite does where no collation says otherwise. How much a
// namespace holds is counted by triggers, so that whatever deletes an entry also gives its room back.
var schema = sqlitedb.Schema{
	Name:          "key-value store",
	ApplicationID: 0x5766_6b76, // "Wfkv"
	Steps:         []string{version1},
}

const version1 = `
CREATE TABLE floor (
	version INTEGER NOT NULL -- above no version in a namespace that was cleared, so that versions do not come again
) STRICT;
INSERT INTO floor VALUES (0);

CREATE TABLE namespaces (
	id      INTEGER PRIMARY KEY,
	agent   TEXT    NOT NULL,
	plugin  TEXT    NOT NULL,
	scope   TEXT    NOT NULL,
	session TEXT    NOT NULL,
	version INTEGER NOT NULL,           -- the last one that was given out
	keys    INTEGER NOT NULL DEFAULT 0, -- how many entries there are, and
	bytes   INTEGER NOT NULL DEFAULT 0, -- how large they are, expired ones included
	UNIQUE (agent, plugin, scope, session)
) STRICT;

CREATE TABLE entries (
	id        INTEGER PRIMARY KEY,
	namespace INTEGER NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
	key       TEXT    NOT NULL,
	value     TEXT    NOT NULL,
	version   INTEGER NOT NULL,
	expires   INTEGER, -- milliseconds since 1970
	UNIQUE (namespace, key)
) STRICT;
CREATE INDEX entries_expired ON entries (expires) WHERE expires IS NOT NULL;
CREATE INDEX entries_expired_of ON entries (namespace, expires) WHERE expires IS NOT NULL;

CREATE TRIGGER entries_insert AFTER INSERT ON entries BEGIN
	UPDATE namespaces SET keys = keys + 1, bytes = bytes + octet_length(new.key) + octet_length(new.value)
		WHERE id = new.namespace;
END;
CREATE TRIGGER entries_update AFTER UPDATE OF value ON entries BEGIN
	UPDATE namespaces SET bytes = bytes + octet_length(new.value) - octet_length(old.value) WHERE id = new.namespace;
END;
CREATE TRIGGER entries_delete AFTER DELETE ON entries BEGIN
	UPDATE namespaces SET keys = keys - 1, bytes = bytes - octet_length(old.key) - octet_length(old.value)
		WHERE id = old.namespace;
END;
`
