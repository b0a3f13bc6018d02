package web

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Plain makes one line of plain text of a piece of HTML, and cuts it where it has more than so many bytes. Tags and
// comments are left out, scripts and styles with what is in them; character references become characters. A < that begins
// no tag that HTML knows stays, as in vector<int>.
func Plain(html string, most int) string {
	html = bounded(html, most)
	if !strings.ContainsAny(html, "<&") {
		return Line(html, most)
	}
	var b strings.Builder
	b.Grow(len(html))
	for html != "" {
		at := strings.IndexAny(html, "<&")
		if at < 0 {
			break
		}
		b.WriteString(html[:at])
		html = html[at:]
		var text string
		var length int
		if html[0] == '<' {
			text, length = markup(html)
		} else {
			text, length = reference(html)
		}
		if length == 0 {
			text, length = html[:1], 1
		}
		b.WriteString(text)
		html = html[length:]
	}
	b.WriteString(html)
	return Line(b.String(), most)
}

// markup is what stands for the tag or comment that a text begins with, and its length; 0 where there is none.
func markup(html string) (text string, length int) {
	if strings.HasPrefix(html, "<!--") {
		return " ", through(html, "-->")
	}
	name, closing := tagName(html)
	switch {
	case name == "!doctype":
		return " ", through(html, ">")
	case !strings.Contains(tags, " "+name+" "):
		return "", 0
	}
	length = tagEnd(html)
	if length == 0 {
		return "", 0
	}
	if !closing && (name == "script" || name == "style") {
		return " ", elementEnd(html, name)
	}
	if strings.Contains(inline, " "+name+" ") {
		return "", length
	}
	return " ", length
}

// elementEnd is the length of a text up to the end of the element that it begins with, or of all of it.
func elementEnd(html, name string) int {
	at := 0
	for {
		next := strings.Index(html[at:], "</")
		if next < 0 {
			return len(html)
		}
		at += next + len("</")
		if len(html)-at >= len(name) && strings.EqualFold(html[at:at+len(name)], name) {
			return at + through(html[at:], ">")
		}
	}
}

// through is the length of a text up to the end of a mark, or of all of it.
func through(text, mark string) int {
	at := strings.Index(text, mark)
	if at < 0 {
		return len(text)
	}
	return at + len(mark)
}

// tagName is the name of the tag that a text begins with, in lower case, and whether the tag closes an element.
func tagName(html string) (name string, closing bool) {
	const longest = 12
	i := 1
	if i < len(html) && html[i] == '/' {
		closing = true
		i++
	}
	start := i
	for i < len(html) && i-start <= longest && !strings.ContainsRune(" \t\r\n/>", rune(html[i])) {
		i++
	}
	return strings.ToLower(html[start:i]), closing
}

// tagEnd is the length of the tag that a text begins with: a > within a quoted value does not end it. Without an end
// nearby it is 0.
func tagEnd(html string) int {
	const longest = 2000
	html = html[:min(len(html), longest)]
	if strings.IndexByte(html, '>') < 0 {
		return 0
	}
	var quote byte
	for i := range len(html) {
		switch c := html[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '>':
			return i + 1
		case (c == '"' || c == '\'') && html[i-1] == '=':
			quote = c
		}
	}
	return 0
}

// inline are the elements that stand within a word or sentence; tags are all that count as markup.
const (
	inline = " a abbr b bdi bdo cite code data del dfn em font i ins kbd mark q s samp small span strike strong sub sup time tt u var wbr "
	tags   = inline + "address area article aside audio base blockquote body br button canvas caption center col colgroup dd details " +
		"dialog div dl dt embed fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe " +
		"img input label legend li link main map menu meta meter nav noscript object ol optgroup option output p param picture pre " +
		"progress script section select slot source style summary svg table tbody td template textarea tfoot th thead title tr track " +
		"ul video "
)

// reference is the character of the character reference that a text begins with, and the reference's length; 0 where there
// is none.
func reference(html string) (text string, length int) {
	const longest = 10
	end := strings.IndexByte(html[:min(len(html), longest+2)], ';')
	if end < 2 {
		return "", 0
	}
	name := html[1:end]
	if name[0] == '#' {
		return numeric(name[1:]), end + 1
	}
	at := strings.Index(named, " "+name+"=")
	if at < 0 {
		return "", 0
	}
	c, _ := utf8.DecodeRuneInString(named[at+len(name)+2:])
	return string(c), end + 1
}

// numeric is the character of a number, decimal or with an x hexadecimal. What is no character becomes nothing.
func numeric(number string) string {
	base := 10
	if number != "" && number[0]|0x20 == 'x' {
		number, base = number[1:], 16
	}
	n, err := strconv.ParseUint(number, base, 32)
	switch {
	case err != nil || n > utf8.MaxRune || !utf8.ValidRune(rune(n)):
		return ""
	case n >= 0x80 && n <= 0x9f:
		return string([]rune(windows)[n-0x80]) // as browsers read these
	}
	return string(rune(n))
}

const windows = "€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ"

// named are the named character references that texts have: those of HTML 3.2, and typography. A space stands before each
// name.
const named = " amp=& lt=< gt=> quot=\" apos=' nbsp=\u00a0 iexcl=¡ cent=¢ pound=£ curren=¤ yen=¥ brvbar=¦ sect=§ uml=¨ copy=© ordf=ª " +
	"laquo=« not=¬ shy=\u00ad reg=® macr=¯ deg=° plusmn=± sup2=² sup3=³ acute=´ micro=µ para=¶ middot=· cedil=¸ sup1=¹ ordm=º " +
	"raquo=» frac14=¼ frac12=½ frac34=¾ iquest=¿ Agrave=À Aacute=Á Acirc=Â Atilde=Ã Auml=Ä Aring=Å AElig=Æ Ccedil=Ç Egrave=È " +
	"Eacute=É Ecirc=Ê Euml=Ë Igrave=Ì Iacute=Í Icirc=Î Iuml=Ï ETH=Ð Ntilde=Ñ Ograve=Ò Oacute=Ó Ocirc=Ô Otilde=Õ Ouml=Ö times=× " +
	"Oslash=Ø Ugrave=Ù Uacute=Ú Ucirc=Û Uuml=Ü Yacute=Ý THORN=Þ szlig=ß agrave=à aacute=á acirc=â atilde=ã auml=ä aring=å " +
	"aelig=æ ccedil=ç egrave=è eacute=é ecirc=ê euml=ë igrave=ì iacute=í icirc=î iuml=ï eth=ð ntilde=ñ ograve=ò oacute=ó " +
	"ocirc=ô otilde=õ ouml=ö divide=÷ oslash=ø ugrave=ù uacute=ú ucirc=û uuml=ü yacute=ý thorn=þ yuml=ÿ OElig=Œ oelig=œ " +
	"Scaron=Š scaron=š ensp=\u2002 emsp=\u2003 thinsp=\u2009 ndash=– mdash=— lsquo=‘ rsquo=’ sbquo=‚ ldquo=“ rdquo=” bdquo=„ " +
	"bull=• hellip=… permil=‰ prime=′ Prime=″ lsaquo=‹ rsaquo=› euro=€ trade=™ larr=← uarr=↑ rarr=→ darr=↓ harr=↔ minus=− " +
	"infin=∞ ne=≠ le=≤ ge=≥ check=✓ star=☆ "
