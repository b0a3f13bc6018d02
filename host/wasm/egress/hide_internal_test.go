package egress

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// hiderOf hides texts just as they are.
func hiderOf(forms ...string) *hider {
	h := &hider{}
	var all [][]byte
	for _, form := range forms {
		all = append(all, []byte(form))
		h.longest = max(h.longest, len(form))
	}
	h.forms = func() [][]byte { return all }
	return h
}

func TestSecretsAreHiddenWhereverATextIsCut(t *testing.T) {
	h := hiderOf("abcdefghij", "abcdefgh", "efghijklmn", "aaaaaaaa", "zzzzzzzzzzzzzzzz", "opqrstuvwxyz", "qrstuvwx")
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"abcdefg", "abcdefg"},
		{"abcdefgh", "[hidden]"},
		{"-abcdefgh-", "-[hidden]-"},
		{"abcdefghij!", "[hidden]!"},
		{"abcdefghi!", "[hidden]i!"},
		{"ABCDefgh", "[hidden]"},
		{"abcdefghijklmn-", "[hidden]-"},
		{"abcdefghabcdefgh", "[hidden][hidden]"},
		{"abcdabcdefgh", "abcd[hidden]"},
		{"aaaaaaaaaaaaaaaaaaaaaaaa!", "[hidden]!"},
		{"aaaaaaa-aaaaaaaa", "aaaaaaa-[hidden]"},
		{"zzzzzzzzzzzzzzz", "zzzzzzzzzzzzzzz"},
		{"-zzzzzzzzzzzzzzzz-", "-[hidden]-"},
		{"-opqrstuvwxyz-", "-[hidden]-"},
	} {
		require.Equal(t, c.want, h.text(c.text))
		for i := range len(c.text) + 1 {
			for j := i; j <= len(c.text); j++ {
				m := masker{hider: h}
				var out, left []byte
				for n, piece := range []string{c.text[:i], c.text[i:j], c.text[j:]} {
					var used int
					left = append(left, piece...)
					out, used = m.mask(out, left, n == 2)
					left = left[used:]
				}
				require.Empty(t, left)
				require.Equal(t, c.want, string(out), "%s cut at %d and %d", c.text, i, j)
			}
		}
	}
}

func TestSecretsAreHiddenInALongStream(t *testing.T) {
	h := hiderOf("a secret of ours")
	for _, gap := range []int{0, 1, 1000, chunk - 8, chunk, chunk + 24, 3 * chunk} {
		filler := strings.Repeat("x", gap)
		text := filler + "a secret of ours" + filler + "A SECRET OF OURS" + filler + "a secret of our"
		want := filler + "[hidden]" + filler + "[hidden]" + filler + "a secret of our"
		for name, reader := range map[string]io.Reader{
			"at once":         strings.NewReader(text),
			"byte by byte":    iotest.OneByteReader(strings.NewReader(text)),
			"with the end":    iotest.DataErrReader(strings.NewReader(text)),
			"half by half":    iotest.HalfReader(strings.NewReader(text)),
			"in small pieces": iotest.OneByteReader(iotest.DataErrReader(strings.NewReader(text))),
		} {
			out, err := io.ReadAll(&hiddenReader{from: reader, masker: masker{hider: h}})
			require.NoError(t, err)
			require.Equal(t, want, string(out), "%s, %d apart", name, gap)
		}
	}
}

func TestAStreamThatFailsKeepsWhatCouldBeTheBeginningOfASecret(t *testing.T) {
	broken := errors.New("broken")
	from := io.MultiReader(strings.NewReader("some text, and a secret of o"), iotest.ErrReader(broken))
	out, err := io.ReadAll(&hiddenReader{from: from, masker: masker{hider: hiderOf("a secret of ours")}})
	require.ErrorIs(t, err, broken)
	require.True(t, strings.HasPrefix("some text, and ", string(out)), "%q", out)
}

func TestNoFormOfASecretIsShorterThanWhatStandsInItsPlace(t *testing.T) {
	for n := minSecret; n < 40; n++ {
		for _, value := range []string{strings.Repeat("a", n), strings.Repeat("\"", n), strings.Repeat("\xff", n)} {
			for _, form := range formsOf(value) {
				require.GreaterOrEqual(t, len(form), len(hidden), "%q of %q", form, value)
			}
		}
	}
}

// FuzzHiddenSecretsNeverShow cuts a text anywhere: what comes out never has a secret, is never longer, and does not depend on
// the cuts.
func FuzzHiddenSecretsNeverShow(f *testing.F) {
	f.Add("abcdefgh", "efghijklm", "..abcdefghijklm..", uint16(5))
	f.Add("aaaaaaaa", "aaaaaaaaa", strings.Repeat("a", 100), uint16(3))
	f.Add("[hidden]", "dden][hi", "[hidden][hidden][hi", uint16(7))
	f.Fuzz(func(t *testing.T, one, two, text string, cut uint16) {
		if min(len(one), len(two)) < minSecret || max(len(one), len(two)) > 100 || len(text) > 10_000 {
			return
		}
		h := hiderOf(string(lower([]byte(one))), string(lower([]byte(two))))
		whole := h.text(text)
		if len(whole) > len(text) {
			t.Fatalf("%q became longer: %q", text, whole)
		}
		m := masker{hider: h}
		var out, left []byte
		rest := []byte(text)
		for {
			n := min(len(rest), int(cut%50)+1)
			left = append(left, rest[:n]...)
			rest = rest[n:]
			var used int
			out, used = m.mask(out, left, len(rest) == 0)
			left = left[used:]
			if len(rest) == 0 {
				break
			}
		}
		if string(out) != whole {
			t.Fatalf("cut into pieces %q, at once %q", out, whole)
		}
		// A secret could only show where its letters are in the text between two that were hidden.
		for part := range bytes.SplitSeq(lower(out), []byte(hidden)) {
			for _, form := range h.forms() {
				if bytes.Contains(part, form) {
					t.Fatalf("%q shows %q", out, form)
				}
			}
		}
	})
}
