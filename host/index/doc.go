// Package index finds documents by their words, for the host function search and for anything else:
//
//	documents, err := index.Open(ctx, "state/docs.db", index.Options{}) // or "" for one in memory
//	if err != nil {
//		return err
//	}
//	defer documents.Close()
//	folder, err := os.OpenRoot("docs")
//	if err != nil {
//		return err
//	}
//	defer folder.Close()
//	if _, err := documents.AddFolder(ctx, folder, index.FolderOptions{}); err != nil {
//		return err
//	}
//	hits, err := documents.Search(ctx, index.Query{Text: "How do I grant files?"})
//
// Documents are put in by the program ([Index.Put]) or taken from a folder of Markdown and plain text ([Index.AddFolder]),
// which is split into passages and indexed again only where it changed. The index is SQLite's full text search (FTS5),
// ranked by BM25. Words are compared without case and diacritics; they are not stemmed, and a text without spaces between
// its words, as in Chinese, is one word up to the next punctuation.
//
// The text of a query is a stranger's. It is taken apart into words here and has no syntax: whatever stands in it, it finds
// documents with at least one of its words, those with most and rarest words first.
package index
