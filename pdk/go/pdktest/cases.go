package pdktest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write what the hooks return into the golden files")

// Hooks are a plugin's exports by name: "before_run": beforeRun.
type Hooks map[string]func() int32

// Cases runs the golden files of a folder, each as a subtest of its own. A file is a txtar archive that tells one story:
//
//	Says what the case shows.
//	clock: 2026-11-21T10:42:00Z
//
//	-- init/in.json --
//	{"abi": 1, "hook": "init", "config": {"timezone": "UTC"}}
//	-- init/out.json --
//	{}
//	-- before_run/in.json --
//	{"abi": 1, "hook": "before_run", "config": {"timezone": "UTC"}}
//	-- before_run/out.json --
//	{"extend_instructions": ["It is Saturday, 21 November 2026, 10:42 (UTC)."]}
//
// Each pair HOOK/in.json, HOOK/out.json is one call; calls run in the order of the file, in one instance, and a hook may
// be called more than once. Outputs are compared as JSON texts without regard to white space. The text before the first
// section is for people, apart from lines "clock: RFC 3339", the time that the plugin shall see. Where the plugin is
// granted folders, the folder testdata/mount/NAME is at /NAME.
//
// What a hook asks the host for stands between the two, in its order: pairs FUNCTION/request and FUNCTION/answer, with the
// JSON of one of the host's functions, or with a request of HTTP and its answer:
//
//	-- http/request --
//	GET https://api.example.com/v1/weather?place=Oslo
//	Accept: application/json
//	-- http/answer --
//	200
//	content-type: application/json
//
//	{"temperature": 7}
//
// With -update the outputs and the requests are written anew, in the file.
type Cases struct {
	// Dir is where the files are; "testdata" by default.
	Dir string
	// Hooks are what can be called.
	Hooks Hooks
	// Host answers what the hooks ask for in calls for which the file has no answers; nil answers nothing.
	Host *Host
	// Begin, if set, is called before each file, with the file's clock: zero where it sets none. It puts the plugin's
	// variables back to how they are before the first call.
	Begin func(t *testing.T, clock time.Time)
}

// Test runs the cases.
func (c Cases) Test(t *testing.T) {
	dir := c.Dir
	if dir == "" {
		dir = "testdata"
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("%s holds no *.txtar file", dir)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { c.replay(t, file) })
	}
}

func (c Cases) host() *Host {
	if c.Host == nil {
		return &Host{}
	}
	return c.Host
}

func (c Cases) replay(t *testing.T, path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	a := parse(data)
	clock, err := a.clock()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if c.Begin != nil {
		c.Begin(t, clock)
	}
	calls, err := a.calls()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for _, call := range calls {
		hook, ok := c.Hooks[call.hook]
		if !ok {
			t.Fatalf("%s: %s is called, and the plugin has no such hook", path, call.hook)
		}
		r := &recorded{t: t, path: path, left: call.exchanges}
		result := r.host(c.host()).Run(hook, string(call.in.data))
		r.end()
		if result.Return != 0 {
			t.Errorf("%s returned %d; 0 was wanted", call.hook, result.Return)
		}
		if *update {
			call.out.data = pretty(t, []byte(result.Output))
			continue
		}
		if want, have := compact(t, call.out.data), compact(t, []byte(result.Output)); want != have {
			t.Errorf("%s, %s: the output differs; run the test with -update if it should\nwant %s\nhave %s",
				path, call.hook, want, have)
		}
	}
	if *update {
		if err := os.WriteFile(path, a.format(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// call is one pair of sections, and those between them.
type call struct {
	hook      string
	in, out   *section
	exchanges []exchange
}

func (a *archive) calls() ([]call, error) {
	var calls []call
	for left := a.sections; len(left) > 0; {
		hook, ok := strings.CutSuffix(left[0].name, "/in.json")
		if !ok {
			return nil, fmt.Errorf("section %q is there; HOOK/in.json was wanted", left[0].name)
		}
		c := call{hook: hook, in: left[0]}
		left = left[1:]
		for len(left) > 1 {
			function, ok := strings.CutSuffix(left[0].name, "/request")
			if !ok || left[1].name != function+"/answer" {
				break
			}
			c.exchanges = append(c.exchanges, exchange{function: function, request: left[0], answer: left[1]})
			left = left[2:]
		}
		if len(left) == 0 || left[0].name != hook+"/out.json" {
			return nil, fmt.Errorf("section %s/in.json must be followed by %s/out.json", hook, hook)
		}
		c.out = left[0]
		left = left[1:]
		calls = append(calls, c)
	}
	return calls, nil
}

func (a *archive) clock() (time.Time, error) {
	for line := range strings.Lines(string(a.comment)) {
		if value, ok := strings.CutPrefix(line, "clock:"); ok {
			return time.Parse(time.RFC3339, strings.TrimSpace(value))
		}
	}
	return time.Time{}, nil
}

func pretty(t *testing.T, data []byte) []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		t.Fatalf("the hook returned no JSON: %v\n%s", err, data)
	}
	b.WriteByte('\n')
	return b.Bytes()
}

func compact(t *testing.T, data []byte) string {
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		t.Fatalf("not valid JSON: %v\n%s", err, data)
	}
	return b.String()
}
