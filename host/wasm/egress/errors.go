package egress

import (
	"fmt"
	"strconv"
	"strings"
)

// DeniedError is a request that the policy does not allow. Nothing of it was sent, unless it is the target of a redirect.
type DeniedError struct {
	// Origin is the origin that was wanted; where a URL has none, the beginning of the URL in quotes.
	Origin string
	// Reason says what is not allowed.
	Reason string
	// Remedy says how to mend it: the line of a plugin's entry that would allow the request, where one would, else what to
	// change in the request.
	Remedy string
}

// Error says all three in one line.
func (e *DeniedError) Error() string {
	return fmt.Sprintf("a request to %s is denied: %s: %s", e.Origin, e.Reason, e.Remedy)
}

// LimitError is an answer that was cut off: it is too large, takes too long or is redirected too often.
type LimitError struct {
	// Origin is the origin that was asked.
	Origin string
	// Limit is "HTTP body", "HTTP time" or "redirects".
	Limit string
	// Value is the limit, for people.
	Value string
	// Option is what changes the limit: limits.http_body for Policy.Body, limits.http_time for Policy.Time, and
	// Policy.Redirects.
	Option string
}

// Error names the limit, its value and the option that changes it.
func (e *LimitError) Error() string {
	switch e.Limit {
	case "HTTP time":
		return fmt.Sprintf("no answer from %s within %s: raise %s, or ask another server", e.Origin, e.Value, e.Option)
	case "redirects":
		return fmt.Sprintf("%s redirects more than %s times: raise %s, or ask for the address where that ends", e.Origin, e.Value, e.Option)
	default:
		return fmt.Sprintf("the answer of %s has more than %s, decompressed: raise %s, or ask for less", e.Origin, e.Value, e.Option)
	}
}

// failure is an error whose text was searched for secrets.
type failure struct {
	text string
	err  error
}

func (e *failure) Error() string { return e.text }
func (e *failure) Unwrap() error { return e.err }

// PolicyError lists everything that is wrong with a policy.
type PolicyError struct{ Faults []Fault }

// Fault is one thing that is wrong with a policy.
type Fault struct {
	// Where is the rule or secret: http[0].origin, secrets.api.
	Where string
	// What is wrong. It never holds a secret's value.
	What string
	// Remedy says how to mend it.
	Remedy string
}

// Error lists the faults, one a line.
func (e *PolicyError) Error() string {
	var b strings.Builder
	b.WriteString("the policy for HTTP requests cannot be used")
	before := ": "
	if len(e.Faults) > 1 {
		before = "\n  - "
	}
	for _, f := range e.Faults {
		fmt.Fprintf(&b, "%s%s: %s: %s", before, f.Where, f.What, f.Remedy)
	}
	return b.String()
}

// quoted is a stranger's text for an error: in quotes, in one line, and cut.
func quoted(text string) string {
	const most = 100
	if len(text) > most {
		return strconv.QuoteToASCII(text[:most]) + "…"
	}
	return strconv.QuoteToASCII(text)
}

// named is a stranger's name for an error: as it is, where that is a short word, else in quotes.
func named(text string) string {
	if len(text) <= 40 && isToken(text) {
		return text
	}
	return quoted(text)
}

// size writes a number of bytes for people.
func size(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	default:
		return fmt.Sprintf("%d bytes", n)
	}
}
