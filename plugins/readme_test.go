package plugins

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/config"
)

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// The entries of a weft.yaml that the READMEs of plugins before services show are whole: with them the plugins load.
func TestTheEntriesInREADMEsLoad(t *testing.T) {
	e := sandbox(t)
	for _, plugin := range []string{"web-search", "azure-ai-search", "mem0"} {
		text, err := os.ReadFile(filepath.Join(plugin, "README.md"))
		require.NoError(t, err)
		blocks := yamlBlock.FindAllStringSubmatch(string(text), -1)
		require.NotEmpty(t, blocks)
		for _, block := range blocks {
			dir := t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(dir, "plugins"), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "plugins", plugin+".wasm"), module(t, plugin), 0o600))
			file := filepath.Join(dir, "weft.yaml")
			require.NoError(t, os.WriteFile(file, []byte("name: guide\nmodel: offline\n"+block[1]), 0o600))
			c, err := config.Load(file)
			require.NoError(t, err, block[1])
			loaded, err := c.LoadPlugins(t.Context(), config.BuildOptions{
				Engine: e, Getenv: func(name string) string { return "the value of " + strings.ToLower(name) }, Logger: slog.New(slog.DiscardHandler),
			})
			require.NoError(t, err)
			require.NoError(t, loaded.Err(), block[1])
			require.Len(t, loaded.List, 1)
			require.NoError(t, loaded.Close(context.Background()))
		}
	}
}
