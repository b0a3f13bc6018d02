package offline

import (
	"regexp"
	"slices"
	"strings"
)

// nameIn finds the user's name where somebody else speaks of the user, ownName where the user does.
var (
	nameIn = regexp.MustCompile(`(?i:\b(?:the )?user(?:['’]s name is| is (?:called|named)|(?:['’]s)? name:|name:)|` +
		`\b(?:call|address) the user(?: as)?|^name:) ` + namePattern)
	ownName = regexp.MustCompile(`(?i:\bmy name(?: is|['’]s)|\bi am (?:called|named)|\bi['’]m (?:called|named)|\bcall me) ` + namePattern)

	clockTime = regexp.MustCompile(`\b\d{1,2}:\d{2}\b`)
	isoDate   = regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}\b`)
	yearName  = regexp.MustCompile(`\b(?:19|20|21)\d\d\b`)
)

// namePattern is a name: one word, and more as long as they are capitalised.
const namePattern = `["“*]*([\p{L}][\p{L}\p{M}\p{N}'’.\-]*(?: \p{Lu}[\p{L}\p{M}\p{N}'’.\-]*){0,4})`

var (
	monthNames = set(`january february march april june july august september october november december`)
	dayNames   = set(`monday tuesday wednesday thursday friday saturday sunday`)
)

// found is a fact with the passage that it stands in.
type found struct {
	text    string
	passage *passage
}

// userName looks for the user's name: in this very message, in what the context says, and in what the user said, the
// latest first.
func userName(r *reading) (found, bool) {
	for _, s := range sentences(r.question) {
		if name := nameBy(ownName, s.text); name != "" {
			return found{text: name, passage: &passage{origin: fromHistory, place: "your message"}}, true
		}
	}
	for _, p := range r.passages {
		if p.origin == fromHistory {
			continue
		}
		for _, s := range p.sentences {
			if name := nameBy(nameIn, s.text); name != "" {
				return found{text: name, passage: p}, true
			}
		}
	}
	for _, p := range slices.Backward(r.passages) {
		if p.origin != fromHistory {
			continue
		}
		for _, s := range slices.Backward(p.sentences) {
			if name := nameBy(ownName, s.text); name != "" {
				return found{text: name, passage: p}, true
			}
		}
	}
	return found{}, false
}

func nameBy(pattern *regexp.Regexp, s string) string {
	m := pattern.FindStringSubmatch(s)
	if m == nil {
		return ""
	}
	name := strings.TrimRight(m[1], ".'’-")
	if first, _, _ := strings.Cut(strings.ToLower(name), " "); stopWords[first] {
		return "" // "my name is not …"
	}
	return name
}

// timeNow looks for a sentence that tells the date or the time. What was said earlier in a conversation is out of date.
func timeNow(r *reading, list []word) (found, bool) {
	wantsClock := hasWord(list, "time") || hasWord(list, "clock") || hasWord(list, "hour")
	best, bestScore := found{}, 0
	for _, p := range r.passages {
		if p.origin == fromHistory {
			continue
		}
		for _, s := range p.sentences {
			if s.form == codeLine {
				continue
			}
			score := timeScore(s.text, wantsClock)
			if score > bestScore {
				best, bestScore = found{text: s.text, passage: p}, score
			}
		}
	}
	return best, bestScore >= 3
}

// timeScore counts what makes a sentence one about this moment.
func timeScore(s string, wantsClock bool) int {
	score, date := 0, false
	list := words(s)
	for i, w := range list {
		switch {
		case monthNames[w.lower], dayNames[w.lower]:
			score, date = score+1, true
		case w.lower == "may" && i > 0 && w.lower != list[i-1].lower && wordDigit(list[i-1].lower):
			score, date = score+1, true
		case w.lower == "today" || w.lower == "now" || w.lower == "current":
			score += 2
		}
	}
	if hasPair(list, "it", "is") && list[0].lower == "it" {
		score += 2
	}
	if yearName.MatchString(s) {
		score++
	}
	if isoDate.MatchString(s) {
		score, date = score+2, true
	}
	clock := clockTime.MatchString(s)
	if clock {
		score++
	}
	if wantsClock && !clock || !wantsClock && !date {
		return 0
	}
	return score
}

// personal says whether a sentence is about the user, going by who says it.
func personal(p *passage, list []word) bool {
	for _, w := range list {
		if p.origin == fromHistory && firstPerson[w.lower] || p.origin != fromHistory && w.lower == "user" {
			return true
		}
	}
	return false
}
