// Package kvtest says what every key-value store does, as tests:
//
//	func TestStore(t *testing.T) {
//		kvtest.Run(t, func(t *testing.T, options kv.Options) kv.Store {
//			return newStore(t, options) // empty, and not shared with another test
//		})
//	}
package kvtest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/kv"
)

// Run runs all tests. open returns an empty store, which Run closes.
func Run(t *testing.T, open func(t *testing.T, options kv.Options) kv.Store) {
	for _, group := range []map[string]func(*testing.T, *fixture){entries, versions, namespaces, lists, limits, expiry, races} {
		for name, test := range group {
			t.Run(name, func(t *testing.T) {
				clock := &clock{now: time.Date(2026, 2, 3, 4, 5, 6, 7, time.UTC)}
				f := &fixture{Store: open(t, kv.Options{Now: clock.read}), clock: clock}
				t.Cleanup(func() { assert.NoError(t, f.Close()) })
				test(t, f)
			})
		}
	}
}

// fixture is a store with a clock that the test turns.
type fixture struct {
	kv.Store
	clock *clock
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}

// mine is the namespace that most tests use.
var mine = kv.Namespace{Agent: "guide", Plugin: "clock", Scope: kv.ScopeSession, Session: "s1"}

func (f *fixture) set(t *testing.T, ns kv.Namespace, key, value string) int64 {
	t.Helper()
	version, err := f.Set(t.Context(), ns, key, jsontext.Value(value), kv.SetOptions{})
	require.NoError(t, err)
	return version
}

// get is the value of a key, or empty where there is none.
func (f *fixture) get(t *testing.T, ns kv.Namespace, key string) string {
	t.Helper()
	e, found, err := f.Get(t.Context(), ns, key)
	require.NoError(t, err)
	require.Equal(t, found, e.Value != nil)
	if found {
		require.Equal(t, key, e.Key)
		require.Positive(t, e.Version)
	} else {
		require.Zero(t, e)
	}
	return string(e.Value)
}

// keys are all keys that begin with a prefix.
func (f *fixture) keys(t *testing.T, ns kv.Namespace, prefix string) []string {
	t.Helper()
	var all []string
	entries, more, err := f.List(t.Context(), ns, kv.ListOptions{Prefix: prefix, Limit: kv.MaxPage})
	require.NoError(t, err)
	require.False(t, more)
	for _, e := range entries {
		require.Nil(t, e.Value)
		all = append(all, e.Key)
	}
	return all
}

// entries is what reading and writing one key does.
var entries = map[string]func(*testing.T, *fixture){
	"AValueIsReadByteForByteAsItWasSet": func(t *testing.T, f *fixture) {
		for _, value := range []string{
			`null`, `0`, `1e400`, `12345678901234567890.10`, `""`, `"ü\u00fc\n"`, ` { "b" : 1 , "a" : [ ] } `, "\"\u2028\U0001F600\"",
		} {
			f.set(t, mine, "key", value)
			require.Equal(t, value, f.get(t, mine, "key"))
		}
	},
	"WhatIsNotThereIsNotFound": func(t *testing.T, f *fixture) {
		require.Empty(t, f.get(t, mine, "key"))
		deleted, err := f.Delete(t.Context(), mine, "key", nil)
		require.NoError(t, err)
		require.False(t, deleted)
		f.set(t, mine, "another", `1`)
		require.Empty(t, f.get(t, mine, "key"))
	},
	"WhatWasDeletedIsGone": func(t *testing.T, f *fixture) {
		f.set(t, mine, "key", `1`)
		f.set(t, mine, "key2", `2`)
		deleted, err := f.Delete(t.Context(), mine, "key", nil)
		require.NoError(t, err)
		require.True(t, deleted)
		require.Empty(t, f.get(t, mine, "key"))
		require.Equal(t, `2`, f.get(t, mine, "key2"))
		require.Equal(t, []string{"key2"}, f.keys(t, mine, ""))
	},
	"WhatIsPassedAndReturnedIsNotShared": func(t *testing.T, f *fixture) {
		value := jsontext.Value(`"one"`)
		_, err := f.Set(t.Context(), mine, "key", value, kv.SetOptions{})
		require.NoError(t, err)
		copy(value, `"two"`)
		e, _, err := f.Get(t.Context(), mine, "key")
		require.NoError(t, err)
		require.Equal(t, `"one"`, string(e.Value))
		copy(e.Value, `"two"`)
		listed, _, err := f.List(t.Context(), mine, kv.ListOptions{Values: true})
		require.NoError(t, err)
		copy(listed[0].Value, `"two"`)
		require.Equal(t, `"one"`, f.get(t, mine, "key"))
	},
	"WhatIsWrongIsToldAllAtOnce": func(t *testing.T, f *fixture) {
		_, err := f.Set(t.Context(), kv.Namespace{Scope: "world"}, "a\x00b", jsontext.Value(`{"a":1,"a":2}`),
			kv.SetOptions{IfVersion: new(int64(-1)), TTL: -time.Second})
		require.ErrorIs(t, err, kv.ErrInvalid)
		for _, want := range []string{
			`the scope is "world", and session or agent was wanted`, `key is "a\x00b", which contains NUL`,
			"at /a: ", "if_version is -1", "ttl is -1s",
		} {
			require.ErrorContains(t, err, want)
		}
	},
	"WhatIsNoKeyIsRefused": func(t *testing.T, f *fixture) {
		for key, want := range map[string]string{
			"":                                 "the key is empty",
			"\x00":                             "contains NUL",
			"a\xff":                            "not valid UTF-8",
			"\xed\xa0\x80":                     "not valid UTF-8", // half of a surrogate pair
			string(make([]byte, kv.MaxKey+1)):  "key is 513 bytes long, and may be 512",
			string(make([]byte, 10*kv.MaxKey)): "key is 5120 bytes long, and may be 512",
		} {
			_, _, err := f.Get(t.Context(), mine, key)
			require.ErrorIs(t, err, kv.ErrInvalid)
			require.ErrorContains(t, err, want)
			_, err = f.Set(t.Context(), mine, key, jsontext.Value(`1`), kv.SetOptions{})
			require.ErrorIs(t, err, kv.ErrInvalid)
			require.ErrorContains(t, err, want)
			_, err = f.Delete(t.Context(), mine, key, nil)
			require.ErrorIs(t, err, kv.ErrInvalid)
			require.ErrorContains(t, err, want)
		}
	},
	"WhatIsNoJSONIsRefused": func(t *testing.T, f *fixture) {
		deep := make([]byte, 65)
		for i := range deep {
			deep[i] = '['
		}
		for _, value := range []string{``, ` `, `{`, `1 2`, `NaN`, `"\ud800"`, "\"\xff\"", `{"a":1,"a":2}`, `'a'`, string(deep)} {
			_, err := f.Set(t.Context(), mine, "key", jsontext.Value(value), kv.SetOptions{})
			require.ErrorIs(t, err, kv.ErrInvalid, value)
		}
		require.Empty(t, f.get(t, mine, "key"))
	},
	"ANamespaceWithoutItsSessionIsRefused": func(t *testing.T, f *fixture) {
		for ns, want := range map[kv.Namespace]string{
			{Scope: kv.ScopeSession}:              "the namespace has the scope session and no session id",
			{Scope: kv.ScopeAgent, Session: "s1"}: `the namespace has the scope agent and the session id "s1"`,
			{}:                                    `the scope is "", and session or agent was wanted`,
		} {
			_, _, err := f.List(t.Context(), ns, kv.ListOptions{})
			require.ErrorIs(t, err, kv.ErrInvalid)
			require.ErrorContains(t, err, want)
			_, err = f.Clear(t.Context(), ns)
			require.ErrorIs(t, err, kv.ErrInvalid)
		}
	},
	"AContextThatIsOverChangesNothing": func(t *testing.T, f *fixture) {
		version := f.set(t, mine, "key", `1`)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := f.Set(ctx, mine, "key", jsontext.Value(`2`), kv.SetOptions{})
		require.ErrorIs(t, err, context.Canceled)
		_, err = f.Delete(ctx, mine, "key", nil)
		require.ErrorIs(t, err, context.Canceled)
		_, err = f.Clear(ctx, mine)
		require.ErrorIs(t, err, context.Canceled)
		_, _, err = f.Get(ctx, mine, "key")
		require.ErrorIs(t, err, context.Canceled)
		_, _, err = f.List(ctx, mine, kv.ListOptions{})
		require.ErrorIs(t, err, context.Canceled)

		e, _, err := f.Get(t.Context(), mine, "key")
		require.NoError(t, err)
		require.Equal(t, kv.Entry{Key: "key", Value: jsontext.Value(`1`), Version: version}, e)
	},
	"AfterCloseEverythingFails": func(t *testing.T, f *fixture) {
		require.NoError(t, f.Close())
		require.NoError(t, f.Close())
		_, err := f.Set(t.Context(), mine, "key", jsontext.Value(`2`), kv.SetOptions{})
		require.ErrorIs(t, err, kv.ErrClosed)
		_, err = f.Delete(t.Context(), mine, "key", nil)
		require.ErrorIs(t, err, kv.ErrClosed)
		_, err = f.Clear(t.Context(), mine)
		require.ErrorIs(t, err, kv.ErrClosed)
		_, _, err = f.Get(t.Context(), mine, "key")
		require.ErrorIs(t, err, kv.ErrClosed)
		_, _, err = f.List(t.Context(), mine, kv.ListOptions{})
		require.ErrorIs(t, err, kv.ErrClosed)
	},
}
