package wasm

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host/index"
)

// search finds documents of an index of the host (clause HF-11).
func search(ctx context.Context, c *call, input []byte) ([]byte, error) {
	const name = "search"
	in, err := readInput(c, name, input, abi.DecodeSearch)
	if err != nil {
		return nil, err
	}
	documents, err := c.index(name, in.Index, "ro")
	if err != nil {
		return nil, err
	}
	hits, err := documents.Search(ctx, index.Query{Text: in.Query, Limit: in.Limit})
	if err != nil {
		return nil, c.indexError(ctx, name, err)
	}
	out := newAnswer()
	out.key("hits")
	out.b = append(out.b, '[')
	for i, h := range hits {
		if i > 0 {
			out.b = append(out.b, ',')
		}
		out.hit(h)
	}
	out.b = append(out.b, ']')
	return c.answer(name, out)
}

func (v *view) hit(h index.Hit) {
	v.b = append(v.b, `{"id":`...)
	v.quote(h.ID)
	v.key("score")
	v.b = strconv.AppendFloat(v.b, h.Score, 'g', -1, 64)
	v.text("title", h.Title)
	v.text("text", h.Text)
	if h.URL != "" {
		v.text("url", h.URL)
	}
	if h.Metadata != nil {
		v.raw("metadata", h.Metadata)
	}
	v.b = append(v.b, '}')
}

// indexPut adds documents to an index (clause HF-12).
func indexPut(ctx context.Context, c *call, input []byte) ([]byte, error) {
	const name = "index_put"
	in, err := readInput(c, name, input, abi.DecodeIndexPut)
	if err != nil {
		return nil, err
	}
	documents, err := c.index(name, in.Index, "rw")
	if err != nil {
		return nil, err
	}
	list := make([]index.Document, len(in.Documents))
	for i, d := range in.Documents {
		list[i] = index.Document{ID: d.ID, Title: d.Title, Text: d.Text, URL: d.URL, Metadata: d.Metadata}
	}
	if err := documents.Put(ctx, list...); err != nil {
		return nil, c.indexError(ctx, name, err)
	}
	return c.answer(name, newAnswer())
}

// indexDelete removes documents from an index (clause HF-13).
func indexDelete(ctx context.Context, c *call, input []byte) ([]byte, error) {
	const name = "index_delete"
	in, err := readInput(c, name, input, abi.DecodeIndexDelete)
	if err != nil {
		return nil, err
	}
	documents, err := c.index(name, in.Index, "rw")
	if err != nil {
		return nil, err
	}
	deleted, err := documents.Delete(ctx, in.IDs...)
	if err != nil {
		return nil, c.indexError(ctx, name, err)
	}
	out := newAnswer()
	out.number("deleted", deleted)
	return c.answer(name, out)
}

// index is an index that the plugin has a right to. Of others it does not learn whether they exist.
func (c *call) index(function, name, mode string) (*index.Index, error) {
	granted := c.version.grants.SearchMode(name)
	if granted == "" || mode == "rw" && granted != "rw" {
		return nil, denied(fmt.Sprintf("%s in the index %.64q", function, name), fmt.Sprintf("search: [{index: %.64s, mode: %s}]", name, mode))
	}
	return c.version.services.Indexes[name], nil
}

// indexError is what a plugin gets for an error of an index.
func (c *call) indexError(ctx context.Context, function string, err error) error {
	code := abi.CodeInvalidInput
	switch {
	case errors.Is(err, index.ErrInvalid): // first, as one of several faults may be a limit
	case errors.Is(err, index.ErrLimit):
		code = abi.CodeLimit
	default:
		return c.unavailable(ctx, function, "the index", err)
	}
	return &abi.Error{Code: code, Message: function + ": " + err.Error()}
}
