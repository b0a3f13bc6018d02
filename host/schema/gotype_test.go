package schema_test

import (
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/schema"
)

type place struct {
	City    string         `json:"city" jsonschema:"the city's name"`
	Country *string        `json:"country,omitempty"`
	Days    int            `json:"days,omitzero"`
	At      time.Time      `json:"at,omitzero"`
	From    netip.Addr     `json:"from,omitzero"`
	Picture []byte         `json:"picture,omitempty"`
	Extra   jsontext.Value `json:"extra,omitempty"`
	secret  int
}

func TestSchemaOfAStruct(t *testing.T) {
	_ = place{}.secret
	s, err := schema.For[place]()
	require.NoError(t, err)
	require.JSONEq(t, `{"type":"object","required":["city"],"additionalProperties":false,"properties":{
		"city":{"type":"string","description":"the city's name"},
		"country":{"type":["null","string"]},
		"days":{"type":"integer"},
		"at":{"type":"string","format":"date-time"},
		"from":{"type":"string"},
		"picture":{"type":"string","contentEncoding":"base64"},
		"extra":true}}`, string(s.JSON()))
	require.NoError(t, s.Validate([]byte(`{"city":"Bonn","extra":[1]}`)))
	require.ErrorIs(t, s.Validate([]byte(`{"city":"Bonn","secret":1}`)), schema.ErrInvalid)
}

type tree struct {
	Children []tree `json:"children"`
}

func TestTypesThatHaveNoSchema(t *testing.T) {
	for want, make := range map[string]func() (*schema.Schema, error){
		"schema_test.tree.Children[]: the type schema_test.tree contains itself": schema.For[tree],
		"struct { F func() }.F: JSON cannot hold a func()":                       schema.For[struct{ F func() }],
		"JSON cannot hold a chan int":                                            schema.For[map[string]chan int],
		"a duration has no form of its own in JSON":                              schema.For[struct{ Wait time.Duration }],
		"the json option \"string\" changes the form": schema.For[struct {
			N int `json:"n,string"`
		}],
		"is embedded with a json name": schema.For[struct {
			place `json:"place"`
		}],
		"is no struct that JSON can see into": schema.For[struct{ M sync.Mutex }],
		"map key":                             schema.For[map[float64]string],
	} {
		_, err := make()
		require.ErrorIs(t, err, schema.ErrType)
		assert.ErrorContains(t, err, want)
	}
}
