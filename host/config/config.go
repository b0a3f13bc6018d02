package config

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/compaction"
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
	// Tools are the servers that tools are taken from.
	Tools []ToolServer
	// Approvals decide which tool calls run, are refused, or are asked about, before anything else does.
	Approvals Approvals
	// FunctionInvocation says how the model's tool calls are answered.
	FunctionInvocation host.FunctionInvocation
	// Compaction thins out what is sent with each model call; nil sends everything. A [*compaction.Summarization] in it, or
	// in any other strategy of a config, has no client: Build gives it the agent's.
	Compaction compaction.Strategy
	// Middleware are the guards and plugins around runs, model calls and tool calls, outermost first at each layer.
	Middleware []Middleware
	// SequentialBeforeRun has providers wait for each other before the model is called also where they need not.
	SequentialBeforeRun bool
	// Storage is the SQLite file that keeps what plugins store; empty keeps it in memory.
	Storage string
	// Indexes are what plugins can search.
	Indexes []Index
	// Embeddings is the model that makes vectors of texts; nil leaves it to Model, as far as that can.
	Embeddings *Model
	// Reload says what becomes of plugins when their files change, or what the config says of them.
	Reload Reload

	storageAt place  // where storage is named
	source    []byte // what was read from File; nil where nothing was
}

const defaultName = "agent"

// Provider is one entry of the list of providers: one of History, Compaction and Plugin is set.
type Provider struct {
	// Line and Column are where the entry's history, compaction or plugin is named.
	Line, Column int
	// History is a history that is kept in the session's state.
	History *host.HistoryConfig
	// Compaction thins out a conversation at the boundary of a run.
	Compaction *compaction.Config
	// Plugin is a WebAssembly plugin.
	Plugin *Plugin

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
	config, err := Parse(path, data)
	if err == nil {
		config.source = data
	}
	return config, err
}

// Parse reads a config from memory. The name stands in faults, and relative paths in the config begin at its folder:
// the files and folders that the config names must exist.
func Parse(name string, data []byte) (*Config, error) {
	d := &decoder{collector: collector{file: name}, dir: filepath.Dir(name), databases: map[string]int{}}
	c := &Config{File: name, Name: defaultName, Model: Model{Provider: ModelOffline}, DefaultHistory: host.HistoryWhenEmpty}
	if root := parseYAML(&d.collector, data); root != nil {
		readMapping(d, root, configKeys, c)
		d.checkSourceIDs(c)
		d.checkHistories(c)
		d.checkIndexes(c)
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
