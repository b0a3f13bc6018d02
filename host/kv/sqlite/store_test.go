package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weft-run/weft/host/kv"
	"github.com/weft-run/weft/host/kv/kvtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var mine = kv.Namespace{Agent: "guide", Plugin: "clock", Scope: kv.ScopeSession, Session: "s1"}

func open(t testing.TB, path string, options kv.Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, options)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

func set(t testing.TB, s *Store, key, value string, options kv.SetOptions) int64 {
	t.Helper()
	version, err := s.Set(t.Context(), mine, key, jsontext.Value(value), options)
	require.NoError(t, err)
	return version
}

func all(t testing.TB, s *Store) map[string]string {
	t.Helper()
	page, more, err := s.List(t.Context(), mine, kv.ListOptions{Values: true, Limit: kv.MaxPage})
	require.NoError(t, err)
	require.False(t, more)
	values := map[string]string{}
	for _, e := range page {
		values[e.Key] = string(e.Value)
	}
	return values
}

func TestAFileIsAStore(t *testing.T) {
	kvtest.Run(t, func(t *testing.T, options kv.Options) kv.Store {
		return open(t, filepath.Join(t.TempDir(), "kv.db"), options)
	})
}

func TestAFileThatIsOpenedAgainHoldsWhatItHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kv.db")
	now := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	options := kv.Options{Now: func() time.Time { return now }}
	s := open(t, path, options)
	first := set(t, s, "key", `1`, kv.SetOptions{})
	set(t, s, "brief", `2`, kv.SetOptions{TTL: time.Minute})
	_, err := s.Delete(t.Context(), mine, "key", nil)
	require.NoError(t, err)
	require.NoError(t, s.Close())

	s = open(t, path, options)
	require.Equal(t, map[string]string{"brief": `2`}, all(t, s))
	second := set(t, s, "key", `3`, kv.SetOptions{})
	require.Greater(t, second, first)
	_, err = s.Set(t.Context(), mine, "k", jsontext.Value(`1`), kv.SetOptions{Limits: kv.Limits{Keys: 2}})
	require.ErrorIs(t, err, kv.ErrLimit, "what was there before counts")
	_, err = s.Clear(t.Context(), mine)
	require.NoError(t, err)
	require.NoError(t, s.Close())

	now = now.Add(time.Hour)
	s = open(t, path, options)
	require.Empty(t, all(t, s))
	require.Greater(t, set(t, s, "key", `4`, kv.SetOptions{}), second)
}

func TestWhatWasSetIsThereAfterTheProcessWasKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kv.db")
	s := open(t, path, kv.Options{})
	set(t, s, "key", `1`, kv.SetOptions{})

	// What a process leaves behind that is killed: the files as they are, with nothing closed.
	left := filepath.Join(t.TempDir(), "kv.db")
	for _, ending := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + ending)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(left+ending, data, 0o600))
	}
	require.Equal(t, map[string]string{"key": `1`}, all(t, open(t, left, kv.Options{})))

	// It was killed in the middle of a write.
	log, err := os.ReadFile(path + "-wal")
	require.NoError(t, err)
	set(t, s, "key", `"`+strings.Repeat("x", 20_000)+`"`, kv.SetOptions{})
	longer, err := os.ReadFile(path + "-wal")
	require.NoError(t, err)
	require.Greater(t, len(longer), len(log)+8192)
	torn := filepath.Join(t.TempDir(), "kv.db")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(torn, data, 0o600))
	require.NoError(t, os.WriteFile(torn+"-wal", longer[:len(log)+8192], 0o600))
	require.Equal(t, map[string]string{"key": `1`}, all(t, open(t, torn, kv.Options{})))
}

func TestStoresOfOneFileLoseNoUpdate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kv.db")
	stores := []*Store{open(t, path, kv.Options{}), open(t, path, kv.Options{}), open(t, path, kv.Options{})}
	var group sync.WaitGroup
	for _, s := range stores {
		group.Go(func() {
			for range 20 {
				for {
					e, _, err := s.Get(t.Context(), mine, "counter")
					if !assert.NoError(t, err) {
						return
					}
					n := 0
					_, _ = fmt.Sscan(string(e.Value), &n)
					_, err = s.Set(t.Context(), mine, "counter", jsontext.Value(fmt.Sprint(n+1)), kv.SetOptions{IfVersion: &e.Version})
					if err == nil {
						break
					}
					if !assert.ErrorIs(t, err, kv.ErrConflict) {
						return
					}
				}
			}
		})
	}
	group.Wait()
	require.Equal(t, map[string]string{"counter": `60`}, all(t, stores[0]))
}

func TestWhatNobodyUsesAnyMoreGoesInTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kv.db")
	now := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	s := open(t, path, kv.Options{Now: func() time.Time { return now }})
	for i := range 150 {
		set(t, s, fmt.Sprint(i), `1`, kv.SetOptions{TTL: time.Minute})
	}
	now = now.Add(time.Hour)
	another := kv.Namespace{Scope: kv.ScopeAgent}
	for range 2 {
		_, err := s.Set(t.Context(), another, "key", jsontext.Value(`1`), kv.SetOptions{})
		require.NoError(t, err)
	}
	require.NoError(t, s.Close())
	now = now.Add(-time.Hour) // at which it would be there
	require.Empty(t, all(t, open(t, path, kv.Options{Now: func() time.Time { return now }})))
}

func TestWhatCannotBeOpenedIsTold(t *testing.T) {
	folder := t.TempDir()
	_, err := Open(t.Context(), folder, kv.Options{})
	require.ErrorContains(t, err, "key-value store "+folder+": a regular file was wanted")

	text := filepath.Join(folder, "notes.md")
	require.NoError(t, os.WriteFile(text, []byte(strings.Repeat("# Notes\n", 1000)), 0o600))
	_, err = Open(t.Context(), text, kv.Options{})
	require.ErrorContains(t, err, "file is not a database")
}
