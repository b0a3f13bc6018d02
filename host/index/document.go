package index

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/internal/strictjson"
)

// How large the parts of a document may be, in bytes; Options has the limit of its text.
const (
	MaxID       = 1 << 10
	MaxTitle    = 1 << 10
	MaxURL      = 2 << 10
	MaxMetadata = 16 << 10
)

// maxDepth is how deep metadata nests at most.
const maxDepth = 64

// Document is what is found. All texts are valid UTF-8 without NUL.
type Document struct {
	// ID tells it from all others, byte for byte. It is not empty.
	ID string
	// Title and Text are what it is found by. A word in the title counts twice.
	Title, Text string
	// URL is where it stands, and may be empty.
	URL string
	// Metadata is any JSON value, and nil for none.
	Metadata jsontext.Value
}

// Put adds documents, each in the place of the one that has its ID, if there is one; of several with one ID the last stays.
// All of them are added, or none: what is wrong with them is an ErrInvalid or a LimitError, with all faults at once.
func (x *Index) Put(ctx context.Context, documents ...Document) error {
	var f faults
	for _, d := range documents {
		x.check(&f, d)
	}
	if err := f.join(); err != nil {
		return err
	}
	return x.write(ctx, func(tx *sql.Tx) error {
		for _, d := range documents {
			if err := forgetFile(ctx, tx, d.ID); err != nil {
				return err
			}
			if err := put(ctx, tx, d, sql.NullInt64{}); err != nil {
				return err
			}
		}
		return x.checkTotal(ctx, tx)
	})
}

// Delete removes documents and returns how many of the IDs there were.
func (x *Index) Delete(ctx context.Context, ids ...string) (int, error) {
	deleted := 0
	err := x.write(ctx, func(tx *sql.Tx) error {
		for _, id := range ids {
			if err := forgetFile(ctx, tx, id); err != nil {
				return err
			}
			result, err := tx.ExecContext(ctx, "DELETE FROM documents WHERE name = ?", id)
			if err != nil {
				return err
			}
			n, err := result.RowsAffected()
			if err != nil {
				return err
			}
			deleted += int(n)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return deleted, nil
}

func put(ctx context.Context, tx *sql.Tx, d Document, file sql.NullInt64) error {
	metadata := sql.NullString{String: string(d.Metadata), Valid: d.Metadata != nil}
	_, err := tx.ExecContext(ctx, `INSERT INTO documents (name, title, text, url, metadata, file) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET
			title = excluded.title, text = excluded.text, url = excluded.url, metadata = excluded.metadata, file = excluded.file`,
		d.ID, d.Title, d.Text, d.URL, metadata, file)
	return err
}

// forgetFile lets the file of a document that is changed by hand be indexed again, the next time that its folder is added.
func forgetFile(ctx context.Context, tx *sql.Tx, id string) error {
	_, err := tx.ExecContext(ctx, "UPDATE files SET digest = x'' WHERE id = (SELECT file FROM documents WHERE name = ?)", id)
	return err
}

// checkTotal returns a LimitError where there are too many documents.
func (x *Index) checkTotal(ctx context.Context, tx *sql.Tx) error {
	total := 0
	if err := tx.QueryRowContext(ctx, "SELECT documents FROM total").Scan(&total); err != nil {
		return err
	}
	if limit := x.options.MaxDocuments; limit >= 0 && total > limit {
		return &LimitError{Limit: "documents", Value: limit, Seen: total, Option: "Options.MaxDocuments"}
	}
	return nil
}

// check finds everything that is wrong with a document.
func (x *Index) check(f *faults, d Document) {
	name := fmt.Sprintf("document %q", cut(d.ID, 100))
	fault := func(format string, args ...any) {
		f.add(fmt.Errorf("%w: %s: "+format, append([]any{ErrInvalid, name}, args...)...))
	}
	if d.ID == "" {
		fault("the id is empty")
	}
	for _, part := range []struct {
		name, text string
		limit      int
	}{{"id", d.ID, MaxID}, {"title", d.Title, MaxTitle}, {"url", d.URL, MaxURL}, {"text", d.Text, -1}} {
		switch {
		case part.limit >= 0 && len(part.text) > part.limit:
			fault("the %s is %d bytes, and may be %d", part.name, len(part.text), part.limit)
		case !utf8.ValidString(part.text):
			fault("the %s is not valid UTF-8", part.name)
		case strings.Contains(part.text, "\x00"):
			fault("the %s contains NUL", part.name)
		}
	}
	if limit := x.options.MaxText; limit >= 0 && len(d.Text) > limit {
		f.add(&LimitError{Limit: "text", ID: cut(d.ID, 100), Value: limit, Seen: len(d.Text), Option: "Options.MaxText"})
	}
	if d.Metadata == nil {
		return
	}
	if len(d.Metadata) > MaxMetadata {
		fault("the metadata is %d bytes, and may be %d", len(d.Metadata), MaxMetadata)
		return
	}
	dec, err := strictjson.Decoder(d.Metadata, maxDepth)
	if err == nil {
		if err = dec.SkipValue(); err == nil {
			err = strictjson.End(dec)
		}
	}
	if err != nil {
		fault("the metadata: %w", strictjson.AsFault(err))
	}
}

// cut returns at most size bytes of a text, and no part of a character.
func cut(text string, size int) string {
	if len(text) <= size {
		return text
	}
	for size > 0 && !utf8.RuneStart(text[size]) {
		size--
	}
	return text[:size]
}
