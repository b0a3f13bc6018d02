package conformance

import "fmt"

// Status is what playing a scenario came to.
type Status string

// The statuses.
const (
	// Pass: everything that the file expects was seen.
	Pass Status = "pass"
	// Fail: something else was seen; see [Result.Differences].
	Fail Status = "fail"
	// Unsupported: the file uses what this way of playing does not have; see [Result.Missing]. Nothing was played.
	Unsupported Status = "unsupported"
)

// maxDifferences is how many differences a result lists.
const maxDifferences = 10

// Result is the outcome of one scenario.
type Result struct {
	// File is where the scenario was loaded from; empty if it came from elsewhere.
	File   string `json:"file,omitempty"`
	Name   string `json:"name"`
	Status Status `json:"status"`
	// Missing lists what the file uses and this way of playing does not have.
	Missing []string `json:"missing,omitempty"`
	// Differences are the first ten, in the order of the turns and then of the file's "expect".
	Differences []Difference `json:"differences,omitempty"`
	// More is how many differences there are beyond those listed.
	More int `json:"more,omitempty"`
}

// Difference is one place where something else was seen than the file expects.
type Difference struct {
	// Path is the JSON pointer of the expectation in the scenario file.
	Path string `json:"path"`
	// Want is what the file expects and Have what was seen, as JSON or in a few words.
	Want string `json:"want"`
	Have string `json:"have"`
}

// String is the place, what was wanted and what was seen.
func (d Difference) String() string {
	return fmt.Sprintf("%s: want %s, have %s", d.Path, d.Want, d.Have)
}

// differ records a difference.
func (r *Result) differ(path, want, have string) {
	if len(r.Differences) == maxDifferences {
		r.More++
		return
	}
	r.Differences = append(r.Differences, Difference{Path: path, Want: want, Have: have})
}

// finish sets the status.
func (r *Result) finish() *Result {
	r.Status = Pass
	if len(r.Differences) > 0 {
		r.Status = Fail
	}
	return r
}
