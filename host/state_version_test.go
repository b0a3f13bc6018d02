package host_test

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

func TestEveryWriteGivesABucketAnotherVersion(t *testing.T) {
	s := host.NewSession("s").State("p")
	for name, write := range map[string]func() error{
		"Set":               func() error { return s.Set("k", 1) },
		"Set of the same":   func() error { return errors.Join(s.Set("k", 1), s.Set("k", 1)) },
		"Update":            func() error { return s.Update("k", func(jsontext.Value) (any, error) { return 2, nil }) },
		"Update that takes": func() error { return s.Update("k", func(jsontext.Value) (any, error) { return nil, nil }) },
		"Delete":            func() error { return s.Delete("k") },
		"Replace":           func() error { return s.Replace(jsontext.Value(`{}`)) },
		"ReplaceIf":         func() error { return s.ReplaceIf(s.Version(), jsontext.Value(`{}`)) },
		"stored messages": func() error {
			return host.EditStoredMessages(s, func([]*message.Message) []*message.Message { return host.Text("x") })
		},
	} {
		before := s.Version()
		require.NoError(t, write(), name)
		require.Greater(t, s.Version(), before, name)
	}
	before := s.Version()
	_, err := s.Get("k", new(any))
	require.NoError(t, err)
	_, err = s.Raw()
	require.NoError(t, err)
	raw, version, err := s.Snapshot()
	require.NoError(t, err)
	require.Equal(t, before, version, "reading is no write")
	require.NotEmpty(t, raw)
	require.Error(t, s.Set("k", func() {}))
	require.Error(t, s.Replace(jsontext.Value(`[]`)))
	require.Error(t, s.Update("k", func(jsontext.Value) (any, error) { return nil, errors.New("no") }))
	require.Equal(t, before, s.Version(), "what is refused is no write")
}

func TestReplacingWhatSomebodyElseWroteIsAConflict(t *testing.T) {
	s := host.NewSession("s").State("p")
	require.NoError(t, s.Replace(jsontext.Value(`{"a":1.50}`)))
	raw, version, err := s.Snapshot()
	require.NoError(t, err)
	require.Equal(t, `{"a":1.50}`, string(raw))
	require.NoError(t, s.Set("b", 2))
	err = s.ReplaceIf(version, jsontext.Value(`{"a":3}`))
	require.ErrorIs(t, err, host.ErrConflict)
	require.ErrorContains(t, err, fmt.Sprintf("it is of version %d, and %d was read", version+1, version))
	raw, version, err = s.Snapshot()
	require.NoError(t, err)
	require.JSONEq(t, `{"a":1.50,"b":2}`, string(raw))
	require.NoError(t, s.ReplaceIf(version, jsontext.Value(`{"a":3}`)))
	require.ErrorIs(t, s.ReplaceIf(version, jsontext.Value(`{"a":4}`)), host.ErrConflict)
	require.ErrorContains(t, s.ReplaceIf(s.Version(), jsontext.Value(`7`)), "must be one JSON object")
}

// TestNoUpdateOfManyIsLost lets many goroutines count in one bucket, each in a way of its own.
func TestNoUpdateOfManyIsLost(t *testing.T) {
	const each, rounds = 4, 200
	s := host.NewSession("s").State("p")
	require.NoError(t, s.Replace(jsontext.Value(`{"n":0,"m":0}`)))
	var wg sync.WaitGroup
	for range each {
		wg.Go(func() {
			for range rounds {
				for {
					raw, version, err := s.Snapshot()
					if err != nil {
						t.Error(err)
						return
					}
					var held map[string]int
					if err := json.Unmarshal(raw, &held); err != nil {
						t.Error(err)
						return
					}
					held["n"]++
					next, _ := json.Marshal(held)
					if err = s.ReplaceIf(version, next); err == nil {
						break
					}
					if !errors.Is(err, host.ErrConflict) {
						t.Error(err)
						return
					}
				}
			}
		})
		wg.Go(func() {
			for range rounds {
				if err := s.Update("m", func(old jsontext.Value) (any, error) {
					n, err := strconv.Atoi(string(old))
					return n + 1, err
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	var held map[string]int
	raw, err := s.Raw()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &held))
	require.Equal(t, map[string]int{"n": each * rounds, "m": each * rounds}, held)
}
