package middleware

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc-DEF_123"

const pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow-IBAAKCAQ\n-----END RSA PRIVATE KEY-----"

func TestWhatDetectorsFind(t *testing.T) {
	for text, want := range map[string]string{
		"write to john.doe+x@mail.example.co.uk.":                  "write to [EMAIL].",
		"<a@b.de>, c@d.org;":                                       "<[EMAIL]>, [EMAIL];",
		"jürgen@müller.de!":                                        "[EMAIL]!",
		"no address: john@localhost, @name, a@b.c":                 "no address: john@localhost, @name, a@b.c",
		strings.Repeat("x", 80) + "@example.com":                   strings.Repeat("x", 16) + "[EMAIL]",
		"card 4111 1111 1111 1111 ok":                              "card [CREDIT_CARD] ok",
		"card 4111-1111-1111-1111.":                                "card [CREDIT_CARD].",
		"4111111111111111 12":                                      "[CREDIT_CARD] 12",
		"4111 1111 1111 1112 is none":                              "4111 1111 1111 1112 is none",
		"0000 0000 0000 0000 neither":                              "0000 0000 0000 0000 neither",
		"order 99 378282246310005x":                                "order 99 [CREDIT_CARD]x",
		"IBAN DE89 3704 0044 0532 0130 00 and":                     "IBAN [IBAN] and",
		"gb82west12345698765432":                                   "[IBAN]",
		"GB83 WEST 1234 5698 7654 32":                              "GB83 WEST 1234 5698 7654 32",
		"call +49 (30) 123456-78 now":                              "call [PHONE] now",
		"0049 30 1234567":                                          "[PHONE]",
		"(555) 123-4567 or 555-123-4567 or 1-555-123-4567":         "[PHONE] or [PHONE] or [PHONE]",
		"030 1234567, 0171/1234567, 01711234567":                   "[PHONE], [PHONE], [PHONE]",
		"01 23 45 67 89 and (030) 1234567":                         "[PHONE] and [PHONE]",
		"on 01.02.2024 at 12:30, 2024-01-02, 1 234 567":            "on 01.02.2024 at 12:30, 2024-01-02, 1 234 567",
		"01-02-2024 12:30 and 3.14159265358979":                    "01-02-2024 12:30 and 3.14159265358979",
		"ssn 123-45-6789":                                          "ssn [SSN]",
		"000-12-3456, 666-12-3456, 900-12-3456":                    "000-12-3456, 666-12-3456, 900-12-3456",
		"host 192.168.1.20:8080 and 999.1.1.1":                     "host [IP]:8080 and 999.1.1.1",
		"at 2001:db8::1: fe80::1, ::1.":                            "at [IP]: [IP], [IP].",
		"1:2:3:4:5:6:7:8 ::ffff:10.0.0.1 12:30:45":                 "[IP] [IP] 12:30:45",
		"std::vector and a::b stay":                                "std::vector and a::b stay",
		"key sk-abcdefghijklmnop1234 end":                          "key [SECRET] end",
		"AKIAIOSFODNN7EXAMPLE; ghp_" + strings.Repeat("a", 36):     "[SECRET]; [SECRET]",
		"Authorization: Bearer " + strings.Repeat("b", 40) + "\nx": "Authorization: [SECRET]\nx",
		"jwt " + jwt + " end":                                      "jwt [SECRET] end",
		"a " + pem + "\nb":                                         "a [SECRET]\nb",
		"task-force ask-me sk-short eyJ Bearer of":                 "task-force ask-me sk-short eyJ Bearer of",
		"": "", "plain words, 42 of them": "plain words, 42 of them",
	} {
		got, found := redactText(AllDetectors(), text)
		require.Equal(t, want, got, text)
		require.Equal(t, got != text, len(found) > 0, text)
	}
}

// Each detector works alone, and is the only one that finds its kind.
func TestDetectorsAreChosen(t *testing.T) {
	all := "a@b.de 4111111111111111 DE89370400440532013000 +4930123456 123-45-6789 10.0.0.1 AKIAIOSFODNN7EXAMPLE"
	for _, d := range AllDetectors() {
		got, found := redactText([]Detector{d}, all)
		require.Equal(t, []string{d.Label()}, found)
		require.Equal(t, 1, strings.Count(got, "["+d.Label()+"]"), got)
	}
	got, found := redactText([]Detector{{}}, all)
	require.Equal(t, all, got, "the zero value finds nothing")
	require.Empty(t, found)
}

func TestPatternsOfTheCaller(t *testing.T) {
	customer, err := Pattern("CUSTOMER", regexp.MustCompile(`(?i)\bC-\d{4,6}\b`), 8)
	require.NoError(t, err)
	for text, want := range map[string]string{
		"C-1234 and xC-1234, c-123456.": "[CUSTOMER] and xC-1234, [CUSTOMER].", "C-1234567": "C-1234567", "éC-1234": "é[CUSTOMER]",
	} {
		got, _ := redactText([]Detector{customer}, text)
		require.Equal(t, want, got)
	}
	for _, bad := range []struct {
		label string
		re    *regexp.Regexp
		most  int
		says  string
	}{
		{"X", nil, 8, "no regular expression"},
		{"", regexp.MustCompile("a"), 8, "label"},
		{"a]", regexp.MustCompile("a"), 8, "label"},
		{"X", regexp.MustCompile("a"), 0, "1 to 1024"},
		{"X", regexp.MustCompile("a"), 1025, "1 to 1024"},
		{"X", regexp.MustCompile("a*"), 8, "every place"},
	} {
		_, err := Pattern(bad.label, bad.re, bad.most)
		require.ErrorContains(t, err, bad.says)
	}
}

// pieces are made of a text by cutting it at any bytes.
func pieces(text string, cuts *rand.Rand) []string {
	var out []string
	for text != "" {
		n := min(len(text), 1+cuts.IntN(1+cuts.IntN(40)))
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

// checkPieces redacts a text in pieces, and holds what leaves against the whole.
func checkPieces(t *testing.T, detectors []Detector, text string, cut []string) {
	t.Helper()
	whole, _ := redactText(detectors, text)
	s := scanner{detectors: detectors}
	left := ""
	for _, piece := range cut {
		left += s.feed(piece, false)
		require.True(t, strings.HasPrefix(whole, left), "what left is a beginning of the whole, redacted")
		require.LessOrEqual(t, utf8.RuneCountInString(s.held), 320, "what is held back is bounded")
	}
	require.Equal(t, whole, left+s.feed("", true))
}

func detectorsWithPattern(t testing.TB) []Detector {
	custom, err := Pattern("CUSTOM", regexp.MustCompile(`\bID-\d+\b`), 16)
	require.NoError(t, err)
	return append(AllDetectors(), custom)
}

var examples = []string{
	"john.doe@example.com", "4111 1111 1111 1111", "4111111111111111", "DE89 3704 0044 0532 0130 00", "+49 30 123456", "0171 1234567",
	"(555) 123-4567", "123-45-6789", "192.168.100.200", "2001:db8::ff00:42:8329", "sk-abcdefghijklmnop1234", "AKIAIOSFODNN7EXAMPLE", jwt, pem, "ID-4711",
}

var fillers = []string{
	" ", "a ", ", ", ". ", "\n", "the weft ", "é", "日本 ", "42 ", "x=", "(", ")", "::", "@", "-", "+", "0", "DE", "sk-", "\xff", "[EMAIL]", "Bearer ", "-----BEGIN ",
}

// Whatever a text is made of and however it is cut, what leaves is the same, and nothing that was put in leaves.
func TestAnyPiecesOfATextComeToTheSame(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	detectors := detectorsWithPattern(t)
	for range 3000 {
		var b strings.Builder
		var planted []string
		for range random.IntN(12) {
			if random.IntN(3) == 0 {
				one := examples[random.IntN(len(examples))]
				planted = append(planted, one)
				b.WriteString(" " + one + " | ")
			} else {
				b.WriteString(fillers[random.IntN(len(fillers))])
			}
		}
		text := b.String()
		checkPieces(t, detectors, text, pieces(text, random))
		whole, _ := redactText(detectors, text)
		for _, one := range planted {
			require.NotContains(t, whole, one, text)
		}
	}
}

// Every one of the examples cut at every place.
func TestEveryCutOfEveryExample(t *testing.T) {
	detectors := detectorsWithPattern(t)
	for _, one := range examples {
		text := "see " + one + " ok"
		for i := range len(text) {
			checkPieces(t, detectors, text, []string{text[:i], text[i:]})
		}
		checkPieces(t, detectors, text, strings.Split(text, ""))
	}
}

// Plain words leave at once, up to the word under way.
func TestPlainTextIsHardlyHeldBack(t *testing.T) {
	s := scanner{detectors: AllDetectors()}
	require.Equal(t, "The weft crosses the ", s.feed("The weft crosses the warp", false))
	require.Equal(t, "warp, ", s.feed(", a", false))

	endless := "a@" + strings.Repeat("b", 1000) // no address, which is known after the longest that there is
	checkPieces(t, AllDetectors(), endless, strings.Split(endless, ""))
	endless = strings.Repeat("a", 1000)
	checkPieces(t, AllDetectors(), endless, strings.Split(endless, ""))
}

func FuzzPIIPieces(f *testing.F) {
	for i, one := range examples {
		f.Add("see "+one+" ok", uint64(i))
		f.Add(strings.Join(fillers, one), uint64(i))
	}
	f.Add("\xe2\x82", uint64(1))
	detectors := detectorsWithPattern(f)
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		if len(text) > 4096 {
			return // the check itself is quadratic
		}
		checkPieces(t, detectors, text, pieces(text, rand.New(rand.NewPCG(seed, 3))))
	})
}

func FuzzEditJSON(f *testing.F) {
	for _, v := range []string{`{"a":"x@y.de","x@y.de":1,"z@y.de":[4111111111111111,1.50,null,true]}`, `"a`, `1 2`, `{"a":1,"a":2}`, `[]`, "\"\xff\"", ``} {
		f.Add([]byte(v))
	}
	f.Fuzz(func(t *testing.T, v []byte) {
		once, found := redactJSON(AllDetectors(), v)
		if len(found) == 0 {
			require.Equal(t, string(v), string(once), "what holds nothing keeps its bytes")
			return
		}
		require.True(t, once.IsValid(), "%s", once)
	})
}

// What a kilobyte of a stream costs: prose, and what detectors like least.
func BenchmarkPIIScan(b *testing.B) {
	for name, text := range map[string]string{
		"prose": strings.Repeat("The weft crosses the warp, 42 times. ", 28)[:1024], "one word": strings.Repeat("a", 1024), "digits": strings.Repeat("12 ", 342)[:1024],
		"hex": strings.Repeat("ab:", 342)[:1024],
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				redactText(AllDetectors(), text)
			}
		})
	}
}
