package middleware

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Detector finds one kind of personal data or secrets. What it finds is replaced by its label in brackets, such as
// [EMAIL]. A Detector is made by the functions of this package; the zero value finds nothing. It has no state and is safe
// for many goroutines.
type Detector struct {
	label string
	find  func(before rune, text string, final bool) match
}

// Label is what stands in place of what the detector finds, without the brackets.
func (d Detector) Label() string { return d.label }

func (d Detector) scan(before rune, text string, final bool) match {
	if d.find == nil {
		return nothing
	}
	return d.find(before, text, final)
}

// AllDetectors are all that this package has: [Email], [IBAN], [CreditCard], [Phone], [SSN], [IPAddress] and [Secret].
func AllDetectors() []Detector {
	return []Detector{Email(), IBAN(), CreditCard(), Phone(), SSN(), IPAddress(), Secret()}
}

// Email finds e-mail addresses as [EMAIL]: up to 64 letters, digits and ._%+-' before the @, behind it a domain
// of at least two parts. Letters are those of all scripts.
func Email() Detector { return Detector{"EMAIL", findEmail} }

// IPAddress finds IPv4 and IPv6 addresses as [IP].
func IPAddress() Detector { return Detector{"IP", findIP} }

// Secret finds credentials as [SECRET]: keys with the prefixes of well-known services (such as sk-, ghp_, AKIA), bearer
// tokens, JSON web tokens, and PEM blocks with private keys, up to their end.
func Secret() Detector { return Detector{"SECRET", findSecret} }

// maxPattern bounds what a pattern of the caller may match, since that much of a stream is held back all the time.
const maxPattern = 1024

// Pattern finds what a regular expression matches, as [label]. It sees one rune before a place, for \b, and at most
// maxBytes from it on, so that is the longest match; as much of a stream is held back. maxBytes is from 1 to 1024.
func Pattern(label string, re *regexp.Regexp, maxBytes int) (Detector, error) {
	switch {
	case re == nil:
		return Detector{}, fmt.Errorf("pattern %q: there is no regular expression", label)
	case label == "" || strings.ContainsAny(label, "[]"):
		return Detector{}, fmt.Errorf("pattern %q: a label is not empty and has no brackets", label)
	case maxBytes < 1 || maxBytes > maxPattern:
		return Detector{}, fmt.Errorf("pattern %q: the longest match must be from 1 to %d bytes, not %d", label, maxPattern, maxBytes)
	case re.MatchString(""):
		return Detector{}, fmt.Errorf("pattern %q: %q matches the empty text, and so every place", label, re)
	}
	first, errFirst := regexp.Compile(`\A(?:` + re.String() + `)`)
	later, errLater := regexp.Compile(`\A(?s:.)((?:` + re.String() + `))`)
	if err := errors.Join(errFirst, errLater); err != nil {
		return Detector{}, fmt.Errorf("pattern %q: %w", label, err)
	}
	return Detector{label, func(before rune, text string, final bool) match {
		if len(text) < maxBytes+utf8.UTFMax && !final {
			return tooEarly
		}
		window := text[:min(len(text), maxBytes+utf8.UTFMax)]
		if before == 0 {
			if m := first.FindStringIndex(window); m != nil {
				return match{size: m[1]}
			}
			return nothing
		}
		behind := string(before)
		if m := later.FindStringSubmatchIndex(behind + window); m != nil {
			return match{size: m[3] - len(behind)}
		}
		return nothing
	}}, nil
}

// Longest parts of an e-mail address (RFC 5321).
const (
	maxLocal  = 64
	maxDomain = 255
)

func localRune(r rune) bool {
	if r < utf8.RuneSelf {
		return isAlnum(r) || strings.IndexByte("._%+-'", byte(r)) >= 0
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

// findEmail begins at the first rune of a local part. Of one that is too long, it is the last 64 runes.
func findEmail(before rune, text string, final bool) match {
	local, runes := 0, 0
	for runes < maxLocal {
		if !final && !utf8.FullRuneInString(text[local:]) {
			return tooEarly
		}
		r, size := utf8.DecodeRuneInString(text[local:])
		if !localRune(r) {
			break
		}
		local, runes = local+size, runes+1
	}
	inside := before != 0 && localRune(before)
	if runes == 0 || inside && runes < maxLocal {
		return nothing
	}
	if local == len(text) {
		return atEnd(final)
	}
	if text[local] != '@' {
		return nothing
	}
	return findDomain(text, local+1, final)
}

// findDomain finds the end of an address whose domain begins at a place: the last part begins with two letters.
func findDomain(text string, at int, final bool) match {
	end, dots, inPart, word := 0, 0, 0, true
	for range maxDomain {
		if !final && !utf8.FullRuneInString(text[at:]) {
			return tooEarly
		}
		r, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case r == '.' && inPart > 0:
			dots, inPart, word = dots+1, 0, true
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || r == '-':
			inPart++
			word = word && (inPart > 2 || unicode.IsLetter(r))
		default:
			return match{size: end}
		}
		at += size
		if dots > 0 && inPart >= 2 && word {
			end = at
		}
	}
	return match{size: end}
}

// findIP finds an address of either kind.
func findIP(before rune, text string, final bool) match {
	four := findIPv4(before, text, final)
	six := findIPv6(before, text, final)
	switch {
	case four.more || six.more:
		return tooEarly
	case six.size > four.size:
		return six
	}
	return four
}

func findIPv4(before rune, text string, final bool) match {
	if isDigit(before) {
		return nothing
	}
	at := 0
	for part := range 4 {
		if part > 0 {
			if at == len(text) {
				return atEnd(final)
			}
			if text[at] != '.' {
				return nothing
			}
			at++
		}
		value, digits := 0, 0
		for at < len(text) && isDigit(rune(text[at])) && digits < 4 {
			value, digits, at = value*10+int(text[at]-'0'), digits+1, at+1
		}
		switch {
		case digits > 3 || value > 255:
			return nothing
		case at == len(text) && !final:
			return tooEarly
		case digits == 0:
			return nothing
		}
	}
	return match{size: at}
}

// maxIPv6 is the longest form, with an IPv4 address at its end.
const maxIPv6 = 45

func findIPv6(before rune, text string, final bool) match {
	if isAlnum(before) || before == ':' {
		return nothing
	}
	end, colons := 0, 0
	for end < len(text) && end < maxIPv6 {
		c := rune(text[end])
		if !isHex(c) && c != ':' && c != '.' {
			break
		}
		if c == ':' {
			colons++
		}
		if end++; end > 4 && colons == 0 {
			return nothing
		}
	}
	if end == len(text) && !final { // what follows decides where it ends
		return tooEarly
	}
	for ; end > 2 && colons >= 2; end-- {
		if end < len(text) && isAlnum(rune(text[end])) {
			continue
		}
		a, err := netip.ParseAddr(text[:end])
		if err == nil && a.Is6() && (strings.ContainsAny(text[:end], "0123456789") || strings.Count(text[:end], ":") > 2) {
			return match{size: end}
		}
	}
	return nothing
}

// secretPrefixes begin the keys of well-known services. least is how many further letters make a key of it.
var secretPrefixes = []struct {
	prefix string
	least  int
	dotted bool // the key may hold more than letters, digits, _ and -
}{
	{"sk-", 16, false},
	{"sk_live_", 12, false},
	{"sk_test_", 12, false},
	{"rk_live_", 12, false},
	{"pk_live_", 12, false},
	{"whsec_", 16, false},
	{"ghp_", 20, false},
	{"gho_", 20, false},
	{"ghu_", 20, false},
	{"ghs_", 20, false},
	{"ghr_", 20, false},
	{"github_pat_", 20, false},
	{"glpat-", 16, false},
	{"xoxb-", 10, false},
	{"xoxp-", 10, false},
	{"xoxa-", 10, false},
	{"xoxs-", 10, false},
	{"xapp-", 10, false},
	{"AKIA", 16, false},
	{"ASIA", 16, false},
	{"AIza", 30, false},
	{"ya29.", 16, true},
	{"hf_", 20, false},
	{"npm_", 20, false},
	{"pypi-", 20, false},
	{"dop_v1_", 20, false},
	{"SG.", 20, true},
	{"eyJ", 20, true},
	{"Bearer ", 16, true},
	{"bearer ", 16, true},
}

func findSecret(before rune, text string, final bool) match {
	if isAlnum(before) || before == '_' {
		return nothing
	}
	if text != "" && text[0] == '-' {
		return findPEM(before, text, final)
	}
	best := nothing
	for _, s := range secretPrefixes {
		if !strings.HasPrefix(text, s.prefix) {
			if !final && strings.HasPrefix(s.prefix, text) {
				return tooEarly
			}
			continue
		}
		inKey := func(r rune) bool {
			return isAlnum(r) || r == '_' || r == '-' || s.dotted && strings.ContainsRune(".+/=~", r)
		}
		end := len(s.prefix)
		for end < len(text) && end < len(s.prefix)+s.least && inKey(rune(text[end])) {
			end++
		}
		switch {
		case end == len(s.prefix)+s.least:
			best = match{size: end, tail: inKey}
		case end == len(text) && !final:
			return tooEarly
		}
	}
	return best
}

// Where a PEM block with a private key begins. Between the two stands what kind of key it is.
const (
	pemBegin   = "-----BEGIN "
	pemPrivate = "PRIVATE KEY-----"
	pemKind    = 24
)

func findPEM(before rune, text string, final bool) match {
	if before == '-' {
		return nothing
	}
	if !strings.HasPrefix(text, pemBegin) {
		return match{more: !final && strings.HasPrefix(pemBegin, text)}
	}
	for at := len(pemBegin); at <= len(pemBegin)+pemKind; at++ {
		rest := text[at:]
		if strings.HasPrefix(rest, pemPrivate) {
			return match{size: at + len(pemPrivate), tail: untilPEMEnds()}
		}
		if !final && strings.HasPrefix(pemPrivate, rest) {
			return tooEarly
		}
		if rest == "" || rest[0] != ' ' && !isAlnum(rune(rest[0])) {
			break
		}
	}
	return nothing
}

// untilPEMEnds takes everything up to the end of the line that ends the block: five dashes, twice.
func untilPEMEnds() func(rune) bool {
	dashes, runs := 0, 0
	return func(r rune) bool {
		if runs == 2 {
			return false
		}
		if r != '-' {
			dashes = 0
		} else if dashes++; dashes == 5 {
			runs, dashes = runs+1, 0
		}
		return true
	}
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }
func isHex(r rune) bool   { return isDigit(r) || 'a' <= r && r <= 'f' || 'A' <= r && r <= 'F' }
func isAlpha(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }
func isAlnum(r rune) bool { return isDigit(r) || isAlpha(r) }
