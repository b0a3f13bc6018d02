package index

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/internal/sqlitedb"
)

// How many hits a search gives.
const (
	DefaultHits = 5
	MaxHits     = 50
)

// How much text a hit holds, in bytes.
const (
	DefaultHitText = 2_000
	MaxHitText     = 16_000
)

// Query says what is searched.
type Query struct {
	// Text is any text. Its words are searched, at most MaxQueryWords of its first MaxQuery bytes; it has no syntax. Where
	// it has no word, nothing is found.
	Text string
	// IDPrefix is what the IDs of hits begin with, byte for byte; empty for all documents.
	IDPrefix string
	// Limit is how many hits there are at most: 0 stands for DefaultHits, and what is above MaxHits for MaxHits.
	Limit int
	// TextBytes is how much text a hit holds at most: 0 stands for DefaultHitText, and what is above MaxHitText for
	// MaxHitText.
	TextBytes int
}

// Hit is a document that was found.
type Hit struct {
	// ID, Title, URL and Metadata are the document's.
	ID, Title, URL string
	Metadata       jsontext.Value
	// Text is the document's text, or where that is longer than it may be, the part of it where the most words of the query
	// stand together.
	Text string
	// Excerpt says that Text is not all.
	Excerpt bool
	// Score is by BM25: above 0, and the higher the better. It is only comparable within one search.
	Score float64
}

// Search finds documents that contain a word of the query, the best first; of equally good ones, that with the lesser ID.
func (x *Index) Search(ctx context.Context, q Query) ([]Hit, error) {
	if q.Limit < 0 || q.TextBytes < 0 {
		return nil, fmt.Errorf("%w: limit is %d and text_bytes is %d, and both must be 0 or more", ErrInvalid, q.Limit, q.TextBytes)
	}
	limit, size := min(q.Limit, MaxHits), min(q.TextBytes, MaxHitText)
	if limit == 0 {
		limit = DefaultHits
	}
	if size == 0 {
		size = DefaultHitText
	}
	words := queryWords(q.Text)
	var hits []Hit
	err := x.read(ctx, func(tx *sql.Tx) error {
		if len(words) == 0 {
			return nil
		}
		rows, err := rank(ctx, tx, expression(words), q.IDPrefix, limit)
		if err != nil {
			return err
		}
		for _, row := range rows {
			hit, err := fetch(ctx, tx, words, row, size)
			if err != nil {
				return err
			}
			hits = append(hits, hit)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return hits, nil
}

// ranked is a document and how well it fits.
type ranked struct {
	id    int64
	score float64
}

// rank finds the best documents. Nothing but their names is read of those that do not win.
func rank(ctx context.Context, tx *sql.Tx, match, prefix string, limit int) ([]ranked, error) {
	var all []ranked
	// BM25 is negative in FTS5. All names with the prefix stand between it and itself with a byte that no UTF-8 contains.
	// The join is a cross join so that SQLite begins with the words.
	err := sqlitedb.Each(ctx, tx, func(rows *sql.Rows) (bool, error) {
		var r ranked
		err := rows.Scan(&r.id, &r.score)
		all = append(all, r)
		return true, err
	}, `SELECT d.id, -bm25(words, 2.0, 1.0) AS score FROM words CROSS JOIN documents d ON d.id = words.rowid
		WHERE words MATCH ? AND d.name >= ? AND d.name < ? ORDER BY score DESC, d.name LIMIT ?`,
		match, prefix, prefix+"\xff", limit)
	return all, err
}

// fetch reads a document that was found.
func fetch(ctx context.Context, tx *sql.Tx, words []string, r ranked, size int) (Hit, error) {
	h := Hit{Score: r.score}
	var metadata sql.NullString
	if err := tx.QueryRowContext(ctx, "SELECT name, title, text, url, metadata FROM documents WHERE id = ?", r.id).
		Scan(&h.ID, &h.Title, &h.Text, &h.URL, &metadata); err != nil {
		return Hit{}, err
	}
	if metadata.Valid {
		h.Metadata = jsontext.Value(metadata.String)
	}
	if len(h.Text) > size {
		h.Text, h.Excerpt = excerpt(h.Text, words, size), true
	}
	return h, nil
}
