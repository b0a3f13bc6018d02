package index

import "github.com/weft-run/weft/internal/sqlitedb"

// schema of the file. The words are found by FTS5, which reads the documents themselves from their table; triggers keep it
// and the count in step with the table, whatever changes it.
var schema = sqlitedb.Schema{
	Name:          "document index",
	ApplicationID: 0x5766_6978, // "Wfix"
	Steps:         []string{version1},
}

const version1 = `
CREATE TABLE files (
	id     INTEGER PRIMARY KEY,
	folder TEXT NOT NULL, -- the prefix of its ids
	path   TEXT NOT NULL,
	digest BLOB NOT NULL, -- of what was indexed; empty where it is to be indexed again
	UNIQUE (folder, path)
) STRICT;

CREATE TABLE documents (
	id       INTEGER PRIMARY KEY,
	name     TEXT NOT NULL UNIQUE, -- Document.ID
	title    TEXT NOT NULL,
	text     TEXT NOT NULL,
	url      TEXT NOT NULL,
	metadata TEXT, -- JSON
	file     INTEGER REFERENCES files (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX documents_of_file ON documents (file) WHERE file IS NOT NULL;

CREATE VIRTUAL TABLE words USING fts5 (
	title, text, content = 'documents', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);

CREATE TABLE total (documents INTEGER NOT NULL) STRICT;
INSERT INTO total VALUES (0);

CREATE TRIGGER documents_insert AFTER INSERT ON documents BEGIN
	INSERT INTO words (rowid, title, text) VALUES (new.id, new.title, new.text);
	UPDATE total SET documents = documents + 1;
END;
CREATE TRIGGER documents_update AFTER UPDATE OF title, text ON documents BEGIN
	INSERT INTO words (words, rowid, title, text) VALUES ('delete', old.id, old.title, old.text);
	INSERT INTO words (rowid, title, text) VALUES (new.id, new.title, new.text);
END;
CREATE TRIGGER documents_delete AFTER DELETE ON documents BEGIN
	INSERT INTO words (words, rowid, title, text) VALUES ('delete', old.id, old.title, old.text);
	UPDATE total SET documents = documents - 1;
END;
`
