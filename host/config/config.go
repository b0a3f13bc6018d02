package config

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/internal/regularfile"
)

// Config is what a weft.yaml says. Paths in it are joined with the folder of the file. It is not to be changed while an
// agent is built of it.
type Config struct {
	// File is the name that faults are told with.
	File string
	// Name is the agent's name. Default: agent.
	Name         string
	Description  string
	Instructions string
	// Model is the offline one unless another is named.
	Model Model
	// Options are the defaults of every run.
	Options        host.Options
	DefaultHistory host.DefaultHistory
	Providers      []Provider
}

// Model says which chat client answers.
type Model struct {
	// Provider is [ModelOffline], the only one of this version.
	Provider string
}

const defaultName = "agent"

// ModelOffline is the model that needs no network: it quotes what fits the question from its context.
const ModelOffline = "offline"

// Provider is one entry of the list of providers: one of History and Plugin is set.
type Provider struct {
	// Line and Column are where the entry's history or plugin is named.
	Line, Column int
	// History is a history that is kept in the session's state.
	History *host.HistoryConfig
	// Plugin is a WebAssembly plugin.
	Plugin *wasm.Config

	path string
}

// Load reads a config from a file. Mistakes in it are an [*Errors] with all of them.
func Load(path string) (*Config, error) {
	data, err := regularfile.Read(path, maxSize)
	if err != nil {
		c := collector{file: path, causes: []error{err}}
		hint := ""
		if errors.Is(err, fs.ErrNotExist) {
			hint = "name the file, or change into its folder"
		}
		c.add(0, 0, "", hint, "the config cannot be read: %v", reason(err))
		return nil, c.err()
	}
	return Parse(path, data)
}

// Parse reads a config from memory. The name stands in faults, and relative paths in the config begin at its folder:
// the files and folders that the config names must exist.
func Parse(name string, data []byte) (*Config, error) {
	d := &decoder{collector: collector{file: name}, dir: filepath.Dir(name)}
	c := &Config{File: name, Name: defaultName, Model: Model{Provider: ModelOffline}, DefaultHistory: host.HistoryWhenEmpty}
	if root := parseYAML(&d.collector, data); root != nil {
		readMapping(d, root, configKeys, c)
		d.checkSourceIDs(c)
	}
	if err := d.err(); err != nil {
		return nil, err
	}
	return c, nil
}

// reason is an error of the file system without the path, which stands before it already.
func reason(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}
