package host_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
)

// What begins with a bracket is read in a quicker way, which must take and refuse the same.
func TestABucketTakesOneStrictObjectWhateverStandsBeforeIt(t *testing.T) {
	nested := func(depth int) string { return strings.Repeat(`{"a":`, depth) + `1` + strings.Repeat(`}`, depth) }
	for text, ok := range map[string]bool{
		`{}`: true, `{"a":1}`: true, `{"a":{"a":[1,"}"]},"b":"\u00e4\"{"} `: true, nested(512): true,
		nested(513): false, ``: false, `[]`: false, `1`: false, `{`: false, `{}}`: false, `{}{}`: false, `{} x`: false, `{"a":1,"a":2}`: false,
		`{"a":{"b":1,"\u0062":2}}`: false, "{\"a\":\"\xff\"}": false, `{"a":"\ud800"}`: false, `{"a":01}`: false, `{"a":1,}`: false, `{a:1}`: false,
	} {
		for _, before := range []string{"", " "} {
			state := host.NewSession("").State("p")
			err := state.Replace([]byte(before + text))
			require.Equal(t, ok, err == nil, "%q: %v", before+text, err)
			raw, err := state.Raw()
			require.NoError(t, err)
			if ok {
				require.Equal(t, strings.TrimSpace(text), string(raw))
			} else {
				require.Equal(t, `{}`, string(raw))
			}
		}
	}
}
