package main

import "strings"

// statement is one thing that a user says about themselves, or takes back.
type statement struct {
	kind  statementKind
	slot  slot
	verb  string
	value string
}

type statementKind int

const (
	stateNothing statementKind = iota
	stateSlot                  // slot, value
	stateFact                  // verb, value
	forgetSlot                 // slot
	forgetFact                 // value
	forgetAll
)

// pattern is the beginning of a clause that says something.
type pattern struct {
	begin string // in lower case
	tells telling
	slot  slot
	text  string // the verb of a fact, or what stands before a slot's value
}

type telling int

const (
	tellsName telling = iota
	tellsSlot
	tellsFact
	tellsRemember
	tellsForget
)

var patterns = []pattern{
	{begin: "my name is ", tells: tellsName},
	{begin: "my name's ", tells: tellsName},
	{begin: "i am called ", tells: tellsName},
	{begin: "i'm called ", tells: tellsName},
	{begin: "call me ", tells: tellsName},
	{begin: "i prefer ", tells: tellsFact, text: "prefers"},
	{begin: "i like ", tells: tellsFact, text: "likes"},
	{begin: "i love ", tells: tellsFact, text: "loves"},
	{begin: "i hate ", tells: tellsFact, text: "hates"},
	{begin: "i dislike ", tells: tellsFact, text: "dislikes"},
	{begin: "i don't like ", tells: tellsFact, text: "does not like"},
	{begin: "i do not like ", tells: tellsFact, text: "does not like"},
	{begin: "i live in ", tells: tellsSlot, slot: slotHome},
	{begin: "i work as ", tells: tellsSlot, slot: slotJob},
	{begin: "i work at ", tells: tellsSlot, slot: slotEmployer, text: "at "},
	{begin: "i work for ", tells: tellsSlot, slot: slotEmployer, text: "for "},
	{begin: "remember that ", tells: tellsRemember},
	{begin: "remember: ", tells: tellsRemember},
	{begin: "don't forget that ", tells: tellsRemember},
	{begin: "forget ", tells: tellsForget},
}

// fillers are words before a statement that change nothing in it.
var fillers = []string{
	"please ", "also ", "and ", "but ", "so ", "well ", "oh ", "ok ", "okay ", "yes ", "no ", "hi ", "hello ", "hey ",
	"by the way ", "btw ", "actually ", "just ", "now ",
}

// adverbs are words between "I" and its verb that change nothing in the statement.
var adverbs = []string{
	"really ", "always ", "also ", "usually ", "generally ", "absolutely ", "now ", "still ", "just ",
	"currently ", "strongly ",
}

// statements finds what a user states about themselves, in the order of the text.
func statements(text string) []statement {
	var all []statement
	for _, sentence := range sentences(text) {
		for _, c := range clauses(sentence) {
			if s := read(c); s.kind != stateNothing {
				all = append(all, s)
			}
		}
	}
	return all
}

// clauses splits a sentence before each part that begins like a statement: "my name is Ada and I live in Paris".
func clauses(sentence string) []string {
	var all []string
	start := 0
	for i := 0; i < len(sentence); i++ {
		if sentence[i] != ',' && sentence[i] != ' ' {
			continue
		}
		if rest := sentence[i:]; strings.HasPrefix(rest, ", ") || strings.HasPrefix(rest, " and ") ||
			strings.HasPrefix(rest, " but ") {
			_, next, _ := strings.Cut(rest[1:], " ")
			if rest[0] == ',' {
				next = rest[2:]
			}
			if _, _, ok := begin(next); ok {
				all = append(all, sentence[start:i])
				start = i + 1
			}
		}
	}
	return append(all, sentence[start:])
}

// read reads one clause.
func read(clause string) statement {
	p, rest, ok := begin(clause)
	if !ok {
		return statement{}
	}
	switch p.tells {
	case tellsName:
		return named(rest)
	case tellsSlot:
		if v := value(fromOutside(rest)); v != "" {
			return statement{kind: stateSlot, slot: p.slot, value: p.text + v}
		}
	case tellsFact:
		if v := value(fromOutside(rest)); v != "" {
			return statement{kind: stateFact, verb: p.text, value: v}
		}
	case tellsRemember:
		return remembered(rest)
	case tellsForget:
		return forgotten(rest)
	}
	return statement{}
}

// begin finds the pattern with which a clause begins, and returns what follows it.
func begin(clause string) (p pattern, rest string, ok bool) {
	rest = stripped(clause)
	for _, p := range patterns {
		if len(rest) > len(p.begin) && beginsWith(rest, p.begin) {
			return p, rest[len(p.begin):], true
		}
	}
	return pattern{}, "", false
}

// stripped takes away what changes nothing: fillers, and adverbs behind "I".
func stripped(clause string) string {
	for {
		rest := strings.TrimLeft(clause, " ,-–—*•")
		for _, f := range fillers {
			// "Hi, I live in Paris": the comma counts as the space.
			if len(rest) > len(f) && beginsWith(rest, f[:len(f)-1]) && strings.IndexByte(" ,:!", rest[len(f)-1]) >= 0 {
				rest = rest[len(f):]
				break
			}
		}
		if beginsWith(rest, "i ") {
			for _, a := range adverbs {
				if after := rest[2:]; len(after) > len(a) && beginsWith(after, a) {
					rest = rest[:2] + after[len(a):]
					break
				}
			}
		}
		if rest == clause {
			return rest
		}
		clause = rest
	}
}

// beginsWith reports whether s begins with prefix, a text in lower case, in any case.
func beginsWith(s, prefix string) bool {
	return len(s) >= len(prefix) && (s[0] == prefix[0] || s[0]|0x20 == prefix[0]) && strings.EqualFold(s[:len(prefix)], prefix)
}

// fromOutside tells what the user says as somebody else would: "my answers short" is "their answers short".
func fromOutside(s string) string {
	words := strings.Fields(s)
	for i, w := range words {
		switch strings.ToLower(w) {
		case "my":
			words[i] = "their"
		case "mine":
			words[i] = "theirs"
		case "me", "myself":
			words[i] = "them"
		case "i":
			words[i] = "they"
		case "i'm":
			words[i] = "they are"
		}
	}
	return strings.Join(words, " ")
}

// named reads a name: a few words, up to the first that belongs to the sentence and not to the name.
func named(rest string) statement {
	var name []string
	for _, word := range strings.Fields(rest) {
		if len(name) == 5 || endsName(word) {
			break
		}
		name = append(name, word)
		if strings.HasSuffix(word, ",") {
			break
		}
	}
	if len(name) == 0 || noName(name[0]) {
		return statement{}
	}
	return statement{kind: stateSlot, slot: slotName, value: value(strings.Join(name, " "))}
}

// endsName tells words that go on with the sentence: "my name is Ada and …".
func endsName(word string) bool {
	switch bare(word) {
	case "", "and", "but", "or", "so", "because", "since", "who", "which", "from", "in", "by", "please", "if", "when",
		"whenever", "for", "instead", "now", "as", "at":
		return true
	}
	return false
}

// noName tells words that no name begins with: "call me later", "my name is not important".
func noName(word string) bool {
	switch bare(word) {
	case "not", "later", "back", "again", "tomorrow", "today", "tonight", "soon", "anytime", "anything", "whatever", "a",
		"an", "the", "crazy", "maybe", "what", "this", "that", "it", "no", "on", "up", "out":
		return true
	}
	return false
}

// remembered keeps what the user wants kept. What could have been said without "remember that" means the same with it.
func remembered(rest string) statement {
	if s := read(rest); s.kind == stateSlot || s.kind == stateFact {
		return s
	}
	v := value(rest)
	if v == "" {
		return statement{}
	}
	return statement{kind: stateFact, verb: verbRemember, value: v}
}

// forgotten takes something back.
func forgotten(rest string) statement {
	rest = value(rest)
	what := bare(rest)
	switch what {
	case "everything", "it all", "all", "all of it", "me", "about me", "all about me", "everything about me",
		"everything you know", "everything you know about me", "what you know about me", "all you know about me",
		"everything i told you", "all facts", "all my preferences", "my preferences", "everything i said":
		return statement{kind: forgetAll}
	case "my name", "what i am called", "what i m called":
		return statement{kind: forgetSlot, slot: slotName}
	case "where i live", "my home", "my address", "my city", "my place":
		return statement{kind: forgetSlot, slot: slotHome}
	case "my job", "my profession", "what i work as":
		return statement{kind: forgetSlot, slot: slotJob}
	case "my employer", "where i work", "who i work for", "my company":
		return statement{kind: forgetSlot, slot: slotEmployer}
	}
	for _, before := range []string{"that ", "about ", "what i said about "} {
		if beginsWith(rest, before) {
			rest = rest[len(before):]
			break
		}
	}
	if s := read(rest); s.kind == stateSlot || s.kind == stateFact {
		rest = s.value
	}
	switch bare(rest) {
	case "", "it", "that", "this", "about it", "i", "a", "the", "the user", "user":
		return statement{} // "forget it" is said of a request, not of a fact
	}
	return statement{kind: forgetFact, value: value(rest)}
}
