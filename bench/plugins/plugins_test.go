package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
)

// The tests' program is the benchmark's child, too.
func TestMain(m *testing.M) {
	if code, ok := runChild(os.Args[1:]); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// short are the settings of a short run.
func short(t *testing.T) settings {
	t.Helper()
	built := shelf("../../bin/bench/plugins")
	for _, language := range languages {
		for _, guest := range []string{"context", "tools", "chat", "last_ten", "waits"} {
			if _, err := built.module(language, guest); err != nil && os.Getenv("CI") == "true" {
				t.Fatal(err) // Such a machine has everything installed.
			} else if err != nil {
				t.Skip(err)
			}
		}
	}
	return settings{
		rounds: 1, sample: time.Millisecond, reload: 500 * time.Millisecond, idle: 3, guests: string(built),
		out: filepath.Join(t.TempDir(), "plugins.json"),
	}
}

// All do the same work, or their figures could not be compared.
func TestAllDoTheSameWork(t *testing.T) {
	s := short(t)
	b := newBench(s, regexp.MustCompile(""))
	t.Cleanup(func() { require.NoError(t, b.close(context.Background())) })
	seen := map[string][]string{}
	for _, guest := range guestNames {
		agent, err := b.agentOfFive(t.Context(), guest, script{saw: func(r *host.ChatRequest) error {
			seen[guest] = append(seen[guest], anonymous(guest, described(t, r)))
			return nil
		}})
		require.NoError(t, err)
		session, err := newSession(t.Context(), 4)
		require.NoError(t, err)
		for range 2 {
			require.NoError(t, runOnce(t.Context(), agent, session))
		}
		for n := range contexts {
			state, err := session.State(fmt.Sprintf("%s_context_%d", guest, n+1)).Raw()
			require.NoError(t, err)
			seen[guest] = append(seen[guest], string(state))
		}
	}
	require.Len(t, seen[native], 4+contexts, "two runs of two model calls, and the states")
	require.Contains(t, seen[native][1], "The question has 9 words.")
	require.Contains(t, seen[native][1], `{"key":"weft","length":4}`)
	require.Equal(t, `{"runs":2,"words":18,"answered":2}`, seen[native][4])
	for _, language := range languages {
		require.Len(t, seen[language], len(seen[native]))
		for n, want := range seen[native] {
			require.Equal(t, want, seen[language][n], language)
		}
	}
}

// described is a request as a model sees it.
func described(t *testing.T, r *host.ChatRequest) string {
	var b strings.Builder
	for _, m := range r.Messages {
		text, err := m.AppendJSON(nil)
		require.NoError(t, err)
		b.Write(text)
		b.WriteByte('\n')
	}
	for _, tool := range r.Tools {
		d := tool.Definition()
		schema := jsontext.Value(d.Parameters.JSON())
		require.NoError(t, schema.Canonicalize())
		fmt.Fprintln(&b, d.Name, d.Description, string(schema))
	}
	return b.String()
}

// anonymous takes out what differs by who did the work.
func anonymous(guest, text string) string {
	text = strings.ReplaceAll(text, `"`+guest+"_", `"`)
	return regexp.MustCompile(`,"source_type":"[^"]*"|,"untrusted":true`).ReplaceAllString(text, "")
}

func TestARunGivesATableAndAFile(t *testing.T) {
	s := short(t)
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out, s))
	raw, err := os.ReadFile(s.out)
	require.NoError(t, err)
	compact := jsontext.Value(raw)
	require.NoError(t, compact.Compact())
	for _, want := range []string{
		`{"case":"run","guest":"native","messages":10,"us":N,"ratio_to_native":1}`,
		`{"case":"run","guest":"rust","messages":10000,"us":N,"ratio_to_native":N,"figures":[{"what":"µs","value":N,"target":"at most 500"`,
		`{"case":"run","guest":"adk-go","messages":10,"us":178,"elsewhere":true}`,
		`"what":"runs a second","value":N,"target":"at least 6,000"`,
		`"what":"more than native","value":N,"unit":"µs","target":"at most 60"`,
		`"what":"times apart","value":N,"target":"at most 1.1"`,
		`"what":"ms before the model","value":N,"target":"at most 130"`,
		`"what":"with two versions","value":0,"target":"at most 0"`,
		`"what":"failed","value":0,"target":"at most 0"`,
	} {
		require.Regexp(t, strings.NewReplacer("{", `\{`, "[", `\[`, "N", `-?[\d.]+`).Replace(want), string(compact))
	}
	for _, name := range append(strings.Split(cases().Names(), ", "), "waits_sequential") {
		require.Contains(t, out.String(), "\n| "+name+" ")
	}
	require.Regexp(t, `\| Python reference \(measured elsewhere\) +\| +10,000 \| +109,098 \|`, out.String())
	require.Contains(t, out.String(), "targets missed: ")
}

func TestAPartCanBeMeasuredByItself(t *testing.T) {
	s := short(t)
	s.cases, s.run, s.out = "run,throughput", "run/c/10$", ""
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out, s))
	require.Regexp(t, `\| run +\| c +\| +10 \|`, out.String())
	require.Regexp(t, `\| run +\| native +\| +10 \|`, out.String(), "for the ratio")
	require.NotContains(t, out.String(), "| rust")
	require.NotContains(t, out.String(), "throughput")
}

func TestWrongFlagsAreRefused(t *testing.T) {
	for want, s := range map[string]settings{
		"at least 1":      {rounds: 0},
		`no case "runs"`:  {rounds: 1, cases: "runs"},
		"missing closing": {rounds: 1, run: "("},
		"is not built":    {rounds: 1, cases: "run", guests: t.TempDir()},
	} {
		require.ErrorContains(t, run(t.Context(), &bytes.Buffer{}, s), want)
	}
}

func TestTheSlowestOfAHundred(t *testing.T) {
	var values []float64
	for n := range 200 {
		values = append(values, float64(200-n))
	}
	require.InDelta(t, 198, percentile(values, 99), 0)
	require.InDelta(t, 7, percentile([]float64{7}, 99), 0)
}
