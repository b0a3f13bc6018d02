package main

import (
	"strconv"
	"time"
	_ "time/tzdata" // WASI has no time zone files; see README.md for what this costs

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

// config is the plugin's configuration; config.schema.json says the same to the host.
type config struct {
	Timezone string
}

func (c *config) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		if name == "timezone" {
			c.Timezone = r.String()
		}
	}
}

// loaded is the zone that init found, so that no run has to look for it again.
var loaded *time.Location

// configuredZone returns the zone that the config names.
func configuredZone(in *pdk.In) (*time.Location, error) {
	c := config{Timezone: "UTC"}
	if err := in.ReadConfig(&c); err != nil {
		return nil, err
	}
	if loaded != nil && loaded.String() == c.Timezone {
		return loaded, nil
	}
	zone, err := time.LoadLocation(c.Timezone)
	if err != nil || c.Timezone == "" || c.Timezone == "Local" {
		// "" and "Local" are zones to Go, and to nobody else.
		return nil, pdk.NewError(pdk.CodeInvalidInput, "config: timezone "+strconv.Quote(c.Timezone)+
			` is not in the time zone database; give a name of it, such as "Europe/Berlin" or "UTC"`)
	}
	loaded = zone
	return zone, nil
}
