package middleware

import "strings"

// CreditCard finds card numbers as [CREDIT_CARD]: 13 to 19 digits, single spaces or hyphens between them allowed, with a
// right check digit (Luhn).
func CreditCard() Detector { return Detector{"CREDIT_CARD", findCard} }

// IBAN finds international bank account numbers as [IBAN]: country, check digits and 11 to 30 letters or digits, single
// spaces between them allowed, in upper or lower case, with right check digits.
func IBAN() Detector { return Detector{"IBAN", findIBAN} }

// Phone finds telephone numbers as [PHONE]: international ones with + or 00; those of North America in groups of three,
// three and four; those with a leading zero, as an area code and a number, in pairs, or in one piece of 10 to 12 digits.
func Phone() Detector { return Detector{"PHONE", findPhone} }

// SSN finds social security numbers of the USA as [SSN]: groups of three, two and four digits with hyphens or spaces between
// them, and no group that is never given out.
func SSN() Detector { return Detector{"SSN", findSSN} }

// groupEnd is the end of a group of digits: where the next is no digit.
type groupEnd struct {
	at     int // bytes from the beginning
	digits int // so far, in all groups
}

// digitGroups reads groups of digits from a place on, with at most maxSeparators of the separators between two of them, and
// no more than maxDigits in all. more says that the text ended too early.
func digitGroups(text string, at, maxDigits int, separators string, maxSeparators int, final bool) (ends []groupEnd, more bool) {
	digits := 0
	for {
		for at < len(text) && isDigit(rune(text[at])) {
			if digits++; digits > maxDigits {
				return ends, false
			}
			at++
		}
		if at == len(text) && !final {
			return nil, true
		}
		if digits == 0 {
			return nil, false
		}
		ends = append(ends, groupEnd{at, digits})
		next := at
		for next < len(text) && next-at < maxSeparators && strings.IndexByte(separators, text[next]) >= 0 {
			next++
		}
		if next == len(text) {
			return ends, !final
		}
		if next == at || !isDigit(rune(text[next])) {
			return ends, false
		}
		at = next
	}
}

// longest is the last end with a number of digits between two bounds that fits.
func longest(ends []groupEnd, least, most int, fits func(end int) bool) match {
	for i := range ends {
		e := ends[len(ends)-1-i]
		if e.digits >= least && e.digits <= most && (fits == nil || fits(e.at)) {
			return match{size: e.at}
		}
	}
	return nothing
}

func findCard(before rune, text string, final bool) match {
	if isDigit(before) || text == "" || !isDigit(rune(text[0])) {
		return nothing
	}
	ends, more := digitGroups(text, 0, 19, " -", 1, final)
	if more {
		return tooEarly
	}
	return longest(ends, 13, 19, func(end int) bool { return luhn(text[:end]) })
}

// luhn reports whether the last digit is the check digit of those before. What is no digit is passed over.
func luhn(text string) bool {
	sum, double, some := 0, false, false
	for i := range len(text) {
		c := text[len(text)-1-i]
		if !isDigit(rune(c)) {
			continue
		}
		d := int(c - '0')
		some = some || d > 0
		if double {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum, double = sum+d, !double
	}
	return some && sum%10 == 0
}

func findIBAN(before rune, text string, final bool) match {
	if isAlnum(before) {
		return nothing
	}
	var ends []int
	at, count := 0, 0
	for count < 34 {
		if at == len(text) {
			if !final {
				return tooEarly
			}
			break
		}
		c := rune(text[at])
		if c == ' ' && count >= 4 && text[at-1] != ' ' {
			ends = append(ends, at)
			at++
			continue
		}
		if count < 2 && !isAlpha(c) || count >= 2 && count < 4 && !isDigit(c) || !isAlnum(c) {
			break
		}
		at, count = at+1, count+1
	}
	if at == len(text) && !final {
		return tooEarly
	}
	if count > 0 && text[at-1] != ' ' && (at == len(text) || !isAlnum(rune(text[at]))) {
		ends = append(ends, at)
	}
	for i := range ends {
		if end := ends[len(ends)-1-i]; validIBAN(text[:end]) {
			return match{size: end}
		}
	}
	return nothing
}

// validIBAN checks length and check digits: letters count as 10 to 35, the first four stand last, and the remainder by 97
// is 1.
func validIBAN(text string) bool {
	compact := strings.ToUpper(strings.ReplaceAll(text, " ", ""))
	if len(compact) < 15 || len(compact) > 34 {
		return false
	}
	remainder := 0
	for _, c := range compact[4:] + compact[:4] {
		if isDigit(c) {
			remainder = (remainder*10 + int(c-'0')) % 97
		} else {
			remainder = (remainder*100 + int(c-'A') + 10) % 97
		}
	}
	return remainder == 1
}

// template matches a form: d is a digit, s a space, dot or hyphen, the same one throughout; all else is itself.
func template(form, text string, final bool) match {
	var separator byte
	for i := range len(form) {
		if i == len(text) {
			return atEnd(final)
		}
		c := text[i]
		switch form[i] {
		case 'd':
			if !isDigit(rune(c)) {
				return nothing
			}
		case 's':
			if strings.IndexByte(" .-", c) < 0 || separator != 0 && c != separator {
				return nothing
			}
			separator = c
		default:
			if c != form[i] {
				return nothing
			}
		}
	}
	if len(form) == len(text) {
		return match{size: len(form), more: !final}
	}
	if isDigit(rune(text[len(form)])) {
		return nothing
	}
	return match{size: len(form)}
}

func findSSN(before rune, text string, final bool) match {
	if isDigit(before) {
		return nothing
	}
	m := template("dddsddsdddd", text, final)
	if m.more || m.size == 0 {
		return m
	}
	area, group, serial := text[:3], text[4:6], text[7:11]
	if text[3] == '.' || area == "000" || area == "666" || area[0] == '9' || group == "00" || serial == "0000" {
		return nothing
	}
	return m
}

// phoneForms are numbers of North America, and those in pairs.
var phoneForms = []string{
	"dddsdddsdddd", "1sdddsdddsdddd", "(ddd) dddsdddd", "(ddd)dddsdddd", "1 (ddd) dddsdddd", "0dsddsddsddsdd",
}

func findPhone(before rune, text string, final bool) match {
	if isDigit(before) || text == "" {
		return nothing
	}
	best := nothing
	for _, form := range phoneForms {
		m := template(form, text, final)
		if m.more {
			return tooEarly
		}
		if m.size > best.size {
			best = m
		}
	}
	var m match
	switch {
	case text[0] == '+':
		m = international(text, 1, final)
	case text[0] == '(':
		m = bracketed(text, final)
	case strings.HasPrefix(text, "00"):
		m = international(text, 2, final)
	case text[0] == '0':
		m = national(text, final)
	}
	if m.more || m.size > best.size {
		return m
	}
	return best
}

// international is a number of 8 to 15 digits behind its prefix, the first of them no zero.
func international(text string, prefix int, final bool) match {
	if len(text) > prefix && (text[prefix] < '1' || text[prefix] > '9') {
		return nothing
	}
	ends, more := digitGroups(text, prefix, 15, " -./()", 2, final)
	if more {
		return tooEarly
	}
	return longest(ends, 8, 15, nil)
}

// bracketed is an area code with a leading zero in brackets, and a number.
func bracketed(text string, final bool) match {
	if len(text) == 1 {
		return atEnd(final)
	}
	if text[1] != '0' {
		return nothing
	}
	ends, more := digitGroups(text, 1, 12, " -/)", 2, final)
	if more {
		return tooEarly
	}
	return longest(ends, 8, 12, nil)
}

// national is an area code with a leading zero, a separator and a group of at least three digits, which no date has; or 10
// to 12 digits in one.
func national(text string, final bool) match {
	ends, more := digitGroups(text, 0, 12, " -/", 1, final)
	switch {
	case more:
		return tooEarly
	case len(ends) > 0 && ends[0].digits >= 10:
		return longest(ends, 10, 12, nil)
	case len(ends) < 2 || ends[0].digits < 2 || ends[0].digits > 6 || ends[1].digits-ends[0].digits < 3:
		return nothing
	}
	return longest(ends, 9, 12, nil)
}
