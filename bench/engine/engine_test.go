package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/bench/internal/measure"
)

// The tests' program is the benchmark's children, too.
func TestMain(m *testing.M) {
	if code, ok := runChild(os.Args[1:]); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// built is where scripts/bench-guests puts the guests.
const built = shelf("../../bin/bench")

// open opens a guest in a host, until the test is over.
func open(t *testing.T, h host, name string) session {
	t.Helper()
	var g guest
	if h.guests {
		var err error
		if g, err = built.guest(name); err != nil {
			t.Skip(err)
		}
	}
	s, err := h.open(t.Context(), g)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.close(context.Background())) })
	return s
}

// each runs a test with each host, and with each guest where it runs guests.
func each(t *testing.T, hosts []host, test func(t *testing.T, h host, s session)) {
	for _, h := range hosts {
		names := guestNames
		if !h.guests {
			names = []string{""}
		}
		for _, name := range names {
			t.Run(h.name+"/"+name, func(t *testing.T) { test(t, h, open(t, h, name)) })
		}
	}
}

// All do the same work, or their figures could not be compared. A guest that would take anything for JSON had less to do
// than the others.
func TestAllDoTheSameWork(t *testing.T) {
	each(t, hosts(), func(t *testing.T, h host, s session) {
		for name, text := range map[string]string{"measured": string(input), "short": short, "unlike": unlike} {
			want, err := beforeRun([]byte(text))
			require.NoError(t, err)
			for range 2 { // The second call finds what the first left behind.
				output, err := s.call(t.Context(), "before_run", []byte(text))
				require.NoError(t, err, name)
				require.Equal(t, string(want), string(output), name)
			}
		}

		output, err := s.call(t.Context(), "before_run", input[:len(input)-1])
		if err == nil { // The project's PDK reports failures as data.
			require.Contains(t, string(output), `{"error":{`)
		}
		if !h.guests {
			return
		}

		for _, text := range []string{"", "1234567", "12345678", strings.Repeat("a line\n\x00\xff", 1000)} {
			output, err := s.call(t.Context(), "echo", []byte(text))
			require.NoError(t, err)
			require.Equal(t, text, string(output))
		}
		output, err = s.call(t.Context(), "noop", nil)
		require.NoError(t, err)
		require.Empty(t, output)
	})
}

// Inputs beside the one that is measured: a message that is not long, and one with everything in another place, with white
// space, escapes and contents of other kinds.
const (
	short = `{"config":{"language":"en","long":3},"run":{"session_id":"s"},"state":{"runs":0,"words":0},` +
		`"input":[{"role":"user","contents":[{"type":"text","text":"three words here"}]}],"metadata":{"trace_id":"t"}}`
	unlike = "\n{ \"metadata\" : { \"more\" : [ 1.5e3, null, { \"a\" : \"b\" } ], \"trace_id\" : \"t-\\\"1\\\"\" },\n" +
		`"input":[{"contents":[{"text":"one\ttwo\nthree\u0020f\u00fcr \ud83d\ude00","type":"text"},{"type":"uri","uri":"u"}]},` +
		`{"contents":[]},{"contents":[{"type":"text","text":"  "},{"type":"text","text":"six"}]}],` +
		`"state":{"runs":-1,"words":2000000000},"run":{"run_id":"r","session_id":"s"},"config":{"long":0,"language":"de"}}`
)

func TestTheWorkIsOfTheSizeThatIsSaid(t *testing.T) {
	output, err := beforeRun(input)
	require.NoError(t, err)
	require.InDelta(t, 2048, len(input), 150)
	require.InDelta(t, 410, len(output), 50)
}

// The parser of the C guest was written for it; it is held against one that others use.
func TestTheParserInCIsStrict(t *testing.T) {
	s := open(t, hosts()[2], guestC)
	for _, value := range []string{
		`1`, `-0`, `0.5`, `1e9`, `1E+9`, `-1.5e-3`, `true`, `false`, `null`, `"é😀"`, `"\u00e9\ud83d\ude00\b\/"`, `[]`, `{}`, `[[[{"a":[1]}]]]`, ` [ 1 , 2 ] `,
		``, `01`, `-`, `1.`, `.5`, `1e`, `+1`, `nul`, `True`, `"`, `"\x"`, `"\u12"`, `"\ud800"`, `"\ud800\u0041"`, `"\udc00"`, "\"\n\"", "\"\xff\"",
		"\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xe2\x82\"", `[1,]`, `[,]`, `[1 2]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{a:1}`, `[1`, `]`, `1 2`,
	} {
		text := `{"any":` + value + `}`
		_, err := s.call(t.Context(), "before_run", []byte(text))
		require.Equal(t, jsontext.Value(text).IsValid(), err == nil, "%s: %v", text, err)
	}
}

func TestInstancesAreAllAtWork(t *testing.T) {
	if _, err := built.guest(guestIndex); err != nil {
		t.Skip(err)
	}
	found, err := measure.Ask[instancesFound](t.Context(), childInstances, instances{built, 2})
	require.NoError(t, err)
	require.Greater(t, found.One.Own, int64(45<<20), "an index of 50 MB is in no less")
	require.Greater(t, found.All.RSS, int64(0))
}

// settingsFor are those of a short run.
func settingsFor(t *testing.T) settings {
	t.Helper()
	for _, name := range append([]string{guestIndex, guestSpin}, guestNames...) {
		if _, err := built.guest(name); err != nil {
			t.Skip(err)
		}
	}
	return settings{rounds: 1, calls: 20, reloads: 3, guests: string(built), out: filepath.Join(t.TempDir(), "engine.json")}
}

func TestARunGivesATableAndAFile(t *testing.T) {
	s := settingsFor(t)
	s.run = "/(c|spin)/(clean|go-sdk)"
	s.cases = "before_run,noop,garbage,throughput,first_call,endless_loop,reload"
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out, s))
	raw, err := os.ReadFile(s.out)
	require.NoError(t, err)
	compact := jsontext.Value(raw)
	require.NoError(t, compact.Compact())
	for _, want := range []string{
		`{"case":"before_run","guest":"","host":"native","us":N,"ratio_to_native":1}`,
		`{"case":"before_run","guest":"c","host":"go-sdk, timeout","us":N,"ratio_to_native":N}`,
		`{"case":"noop","guest":"c","host":"go-sdk","us":N}`,
	} {
		require.Regexp(t, strings.NewReplacer("{", `\{`, "N", `[\d.]+`).Replace(want), string(compact))
	}
	for _, name := range []string{"before_run", "noop", "garbage", "throughput", "first_call", "endless_loop", "reload_same", "reload_changed"} {
		require.Contains(t, out.String(), "\n| "+name+" ")
	}
	require.Regexp(t, `\| c +\| clean +\|.*times faster than go-sdk with a timeout: [\d.]+ \(at least 8`, out.String())
}

func TestManyCallsHoldsEarlyAgainstLate(t *testing.T) {
	s := settingsFor(t)
	s.cases = "many_calls"
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out, s))
	require.Regexp(t, `\| go +\| clean .*more after 20 0 MiB \(at most 1\)`, out.String())
	require.Regexp(t, `\| go +\| shared `, out.String())
}

func TestWrongFlagsAreRefused(t *testing.T) {
	for want, s := range map[string]settings{
		"at least 1":       {rounds: 0},
		`no case "befor"`:  {rounds: 1, cases: "befor"},
		"missing closing":  {rounds: 1, run: "("},
		"guest c is not b": {rounds: 1, cases: "before_run", run: "/c/clean", guests: t.TempDir()},
	} {
		require.ErrorContains(t, run(t.Context(), &bytes.Buffer{}, s), want)
	}
}

func TestANumberedModuleIsAnotherOne(t *testing.T) {
	one, two := numbered(answers, 1), numbered(answers, 2)
	require.NotEqual(t, one, two)
	s, err := openShared(t.Context(), guest{"answers", two})
	require.NoError(t, err)
	require.NoError(t, s.close(t.Context()))
}

// answers is a module with nothing in it.
var answers = []byte("\x00asm\x01\x00\x00\x00")
