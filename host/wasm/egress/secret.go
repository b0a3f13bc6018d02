package egress

import (
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"slices"
	"strings"
)

const (
	// hidden stands where a secret was.
	hidden = "[hidden]"
	// minSecret is the length of the shortest secret. A shorter one would be found in plain words; and what stands in its
	// place would be longer than the secret, so that hiding could make an answer larger.
	minSecret = len(hidden)
	maxSecret = 4 << 10
	// opening begins a handle. Handles are searched for as they are written: no blanks, this case.
	opening = "{{secret."
	closing = "}}"
)

// Secret is a value that nobody reads by accident: whatever prints, logs or encodes it writes [hidden].
type Secret struct{ reveal func() string } // A function prints as an address where fmt does not ask for a Formatter.

// NewSecret returns a secret with that value. The value must be fit for a header: 8 to 4096 bytes, without control
// characters, without blanks at its ends.
func NewSecret(value string) Secret { return Secret{reveal: func() string { return value }} }

var (
	_ fmt.Formatter  = Secret{}
	_ slog.LogValuer = Secret{}
)

// String is [hidden].
func (Secret) String() string { return hidden }

// GoString is [hidden].
func (Secret) GoString() string { return hidden }

// Format writes [hidden], whatever the verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// MarshalText is [hidden], in JSON and YAML too.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// LogValue is [hidden].
func (Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

func (s Secret) value() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

var secretName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// checkSecret finds the faults of a name and a value, and names only the name.
func checkSecret(name string, secret Secret) []Fault {
	var faults []Fault
	fault := func(remedy, format string, args ...any) {
		faults = append(faults, Fault{Where: "secrets." + name, What: fmt.Sprintf(format, args...), Remedy: remedy})
	}
	if !secretName.MatchString(name) {
		fault("use letters, digits, _ and -, 64 at most", "%s is no name for a secret", quoted(name))
		faults[0].Where = "secrets"
	}
	value := secret.value()
	switch {
	case value == "":
		fault("set it, or remove it", "it has no value")
	case strings.TrimSpace(value) != value:
		fault("trim it: the end of a line often comes from a file", "its value begins or ends with a blank")
	case !isFieldValue(value):
		fault("look whether it was read from the right place", "its value has characters that no header may have")
	case len(value) < minSecret:
		fault(fmt.Sprintf("use one of %d bytes or more", minSecret), "its value has %d bytes, which could not be told from other text", len(value))
	case len(value) > maxSecret:
		fault(fmt.Sprintf("use one of at most %d bytes", maxSecret), "its value has %d bytes", len(value))
	}
	return faults
}

// secrets puts values in the place of handles.
type secrets struct {
	values  func() map[string]Secret
	allowed []string // those of the origin that is asked
	origin  Origin
}

// fill puts secrets into the value of a header, and tells whether there were any.
func (s secrets) fill(value string) (filled string, had bool, err error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(value, opening)
		b.WriteString(before)
		if !found {
			return b.String(), had, nil
		}
		name, after, closed := strings.Cut(rest, closing)
		if !closed || !secretName.MatchString(name) {
			return "", false, &DeniedError{
				Origin: s.origin.String(), Reason: "it has a broken handle of a secret in a header",
				Remedy: "write " + opening + "NAME" + closing,
			}
		}
		if !slices.Contains(s.allowed, name) {
			return "", false, &DeniedError{
				Origin: s.origin.String(), Reason: "the secret " + name + " is not for this origin",
				Remedy: "if it should be, add " + grantLine(s.origin, "secrets: ["+name+"]"),
			}
		}
		b.WriteString(s.values()[name].value())
		value, had = after, true
	}
}
