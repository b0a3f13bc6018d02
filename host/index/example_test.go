package index_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/weft-run/weft/host/index"
)

// Documents are found by their words, whatever else stands in the query.
func Example() {
	ctx := context.Background()
	x, err := index.Open(ctx, "", index.Options{})
	if err != nil {
		panic(err)
	}
	defer x.Close()
	if err := x.Put(
		ctx,
		index.Document{ID: "weft", Title: "Weft", Text: "The weft is drawn through the warp."},
		index.Document{ID: "warp", Title: "Warp", Text: "The warp is held in tension on the loom."},
		index.Document{ID: "dye", Title: "Dye", Text: "Madder makes red, woad makes blue."},
	); err != nil {
		panic(err)
	}
	hits, err := x.Search(ctx, index.Query{Text: `What is drawn through the "warp"?`, Limit: 2})
	if err != nil {
		panic(err)
	}
	for _, h := range hits {
		fmt.Printf("%s: %s\n", h.ID, h.Text)
	}
	// Output:
	// weft: The weft is drawn through the warp.
	// warp: The warp is held in tension on the loom.
}

// A folder is split into passages, and indexed again only where it changed.
func ExampleIndex_AddFolder() {
	dir, err := os.MkdirTemp("", "docs")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	guide := "# Guide\n\n## Files\n\nA folder is granted read-only.\n\n## Keys\n\nKeys are kept by the host.\n"
	if err := os.WriteFile(filepath.Join(dir, "guide.md"), []byte(guide), 0o600); err != nil {
		panic(err)
	}
	folder, err := os.OpenRoot(dir)
	if err != nil {
		panic(err)
	}
	defer folder.Close()

	ctx := context.Background()
	x, err := index.Open(ctx, "", index.Options{})
	if err != nil {
		panic(err)
	}
	defer x.Close()
	for range 2 {
		stats, err := x.AddFolder(ctx, folder, index.FolderOptions{})
		fmt.Printf("%d file, %d indexed, %d passages, %v\n", stats.Files, stats.Indexed, stats.Passages, err)
	}
	hits, err := x.Search(ctx, index.Query{Text: "Who keeps keys?"})
	if err != nil {
		panic(err)
	}
	fmt.Println(hits[0].ID, "|", hits[0].Title, "|", hits[0].Metadata)
	// Output:
	// 1 file, 1 indexed, 2 passages, <nil>
	// 1 file, 0 indexed, 0 passages, <nil>
	// guide.md#keys | guide.md § Keys | {"path":"guide.md","heading":"Keys","line":9}
}
