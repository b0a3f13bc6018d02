package main

import (
	"strconv"

	pdk "github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

// config is the plugin's configuration; config.schema.json says the same to the host.
type config struct {
	Folder   string
	Passages int
	MaxBytes int
	MinScore float64
}

func readConfig(in *pdk.In) (config, error) {
	c := config{Folder: "/docs", Passages: 4, MaxBytes: 6000, MinScore: 0.1}
	err := in.ReadConfig(&c)
	return c, err
}

func (c *config) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "folder":
			c.Folder = r.String()
			if c.Folder == "" || c.Folder[0] != '/' {
				r.Fail("an absolute path was wanted, such as /docs, and " + strconv.Quote(c.Folder) + " is there")
			}
		case "passages":
			c.Passages = r.Within(1, 20)
		case "max_bytes":
			c.MaxBytes = r.Within(200, 100_000)
		case "min_score":
			c.MinScore = r.Float()
			if c.MinScore < 0 || c.MinScore > 1 {
				r.Fail("a number from 0 to 1 was wanted, and " + strconv.FormatFloat(c.MinScore, 'g', -1, 64) + " is there")
			}
		}
	}
}
