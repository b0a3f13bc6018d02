package pdktest

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

// fetches asks for a stored place and sends two requests.
func fetches() int32 {
	return pdk.AfterRun(func(_ *pdk.In, out *pdk.RunOut) error {
		place, _, err := pdk.KV(pdk.ScopeAgent).Get("place")
		if err != nil {
			return err
		}
		name := json.NewReader(place.Value).String()
		first, err := pdk.HTTP(pdk.HTTPRequest{URL: "https://a.example/" + name})
		if err != nil {
			return err
		}
		second, err := pdk.HTTP(pdk.HTTPRequest{
			Method: "POST", URL: "https://b.example/", Body: []byte(`{"place":"` + name + `"}`),
			Headers: map[string]string{"x-key": "{{secret.key}}", "Content-Type": "application/json"},
		})
		w := json.NewWriter(100)
		w.Object(func() {
			w.Name("first").String(shownResponse(first))
			w.Name("second").String(shownResponse(second))
		})
		out.SetState(w.JSON())
		return err
	})
}

func shownResponse(r pdk.HTTPResponse) string {
	return strconv.Itoa(r.Status) + " " + r.Headers["content-type"] + " " + r.Body
}

func TestAFileHoldsWhatAHookAsksFor(t *testing.T) {
	Cases{Dir: "testdata/exchange", Hooks: Hooks{"after_run": fetches}}.Test(t)
}

// complaints keeps what a test would have failed with.
type complaints []string

func (*complaints) Helper() {}

func (c *complaints) Errorf(format string, args ...any) {
	*c = append(*c, fmt.Sprintf(format, args...))
}

func TestWhatIsAskedForOtherwiseIsAFault(t *testing.T) {
	if *update {
		t.Skip("requests are written, and not compared")
	}
	for _, c := range []struct {
		name     string
		recorded string
		want     []string
	}{
		{"another request", "-- http/request --\nGET https://a.example/2\n-- http/answer --\n200\n", []string{
			"f: http is asked for something else; run the test with -update if it should\nwant GET https://a.example/2\nhave GET https://a.example/1",
		}},
		{"another function", "-- embed/request --\n{}\n-- embed/answer --\n{}\n", []string{
			"f: there is no section http/request at this place; the hook asks\nGET https://a.example/1\n",
			"f: the hook does not ask for what stands in a section embed/request",
		}},
		{"too many", "-- http/request --\nGET https://a.example/1\n-- http/answer --\n200\n-- http/request --\n-- http/answer --\n", []string{
			"f: the hook does not ask for what stands in a section http/request",
		}},
		{"no answer", "-- http/request --\nGET https://a.example/1\n-- http/answer --\nOK\n", []string{
			`f: an answer begins with "OK"; a status was wanted, such as 200`,
		}},
		{"no header", "-- http/request --\nGET https://a.example/1\n-- http/answer --\n200\n{}\n", []string{
			`f: an answer has the line "{}"; a header was wanted, or an empty line`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := parse([]byte("-- x/in.json --\n" + c.recorded + "-- x/out.json --\n"))
			calls, err := a.calls()
			if err != nil {
				t.Fatal(err)
			}
			var heard complaints
			r := &recorded{t: &heard, path: "f", left: calls[0].exchanges}
			r.host(&Host{}).Run(func() int32 {
				return pdk.AfterRun(func(*pdk.In, *pdk.RunOut) error {
					_, err := pdk.HTTP(pdk.HTTPRequest{URL: "https://a.example/1"})
					return err
				})
			}, `{}`)
			r.end()
			if strings.Join(heard, "|") != strings.Join(c.want, "|") {
				t.Errorf("want %q\nhave %q", c.want, heard)
			}
		})
	}
}
