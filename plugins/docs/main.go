// Command docs is a Weft plugin that finds the passages of a folder of Markdown that fit a question, and adds them to the
// run's context.
package main

import (
	_ "embed"
	"strconv"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

//go:embed config.schema.json
var configSchema string

//go:wasmexport describe
func describe() int32 {
	return pdk.Describe(pdk.Description{
		Name:         "docs",
		Version:      "0.1.0",
		Description:  "Finds the passages of a folder of Markdown that fit a question.",
		SourceID:     "docs",
		ConfigSchema: json.Raw(configSchema),
		Grants:       pdk.Grants{Files: []pdk.FileGrant{{Guest: "/docs", Mode: "ro"}}},
	})
}

// ready is the index that init built. The host keeps the memory as it is then, so that each run starts with it.
var ready *index

//go:wasmexport init
func initialise() int32 {
	return pdk.Init(func(in *pdk.In) error {
		c, err := readConfig(in)
		if err != nil {
			return err
		}
		_, err = prepared(c)
		return err
	})
}

//go:wasmexport before_run
func beforeRun() int32 {
	return pdk.BeforeRun(func(in *pdk.In, out *pdk.ContextOut) error {
		c, err := readConfig(in)
		if err != nil {
			return err
		}
		x, err := prepared(c)
		if err != nil {
			return err
		}
		out.ExtendMessages(messages(x.search(question(in), c.Passages, c.MinScore), c.MaxBytes)...)
		return nil
	})
}

// prepared returns the index, and builds it where init was not called.
func prepared(c config) (*index, error) {
	if ready != nil {
		return ready, nil
	}
	files, err := readFolder(c.Folder)
	if err != nil {
		return nil, err
	}
	ready = newIndex(files)
	pdk.LogInfo("indexed " + strconv.Itoa(len(ready.passages)) + " passages of " + strconv.Itoa(len(files)) + " files")
	return ready, nil
}

func main() {}
