package offline

import (
	"slices"
	"strings"
)

// intent is what a message wants.
type intent int

const (
	wantsPassage    intent = iota // what the context says about something
	wantsName                     // the user's own name
	wantsTime                     // date or time
	wantsPreference               // something about the user
	wantsAbout                    // what this model is
	wantsNothing                  // it is a statement
	wantsGreeting
	wantsThanks
)

// question is what a message asks for.
type question struct {
	intent intent
	groups []group
	// definition says that it is of the form "what is …".
	definition bool
}

// group is one word of a question, with how much it decides.
type group struct {
	word   word
	weight float64 // before rarity is counted in: 1 for a plain word
}

var (
	nameWords   = terms(`name call called`)
	knowing     = set(`remember recall know knows known told said tell say`)
	timeWords   = terms(`time date day today hour clock year month week weekday now current currently tomorrow moment`)
	ourTime     = terms(`time date day today hour clock year month week weekday`)
	firstPerson = set(`i me my mine im ive`)
	aboutWords  = set(`help model offline`)
)

// interrogative says whether a sentence asks something.
func interrogative(s string) bool {
	if strings.ContainsAny(s, "?？") {
		return true
	}
	list := content(words(s), greetings)
	if len(list) == 0 {
		return false
	}
	if hasPair(list, "to", "know") || hasWord(list, "wonder") || hasWord(list, "wondering") {
		return true
	}
	first := list[0].lower
	return questionWords[first] && first != "may" && first != "will" || requestWords[first] && len(list) > 1 && list[1].lower != "is"
}

// ask finds out what a message wants.
func ask(text string) question {
	all := sentences(text)
	var asked []word
	for _, s := range all {
		if interrogative(s.text) {
			asked = append(asked, words(s.text)...)
		}
	}
	said := words(text)
	if len(asked) == 0 {
		switch {
		case only(said, greetings):
			return question{intent: wantsGreeting}
		case only(said, thanks):
			return question{intent: wantsThanks}
		case statement(said):
			return question{intent: wantsNothing}
		}
		asked = said
	}
	q := question{groups: groups(asked)}
	if len(q.groups) == 0 && len(asked) < len(said) {
		q.groups = groups(said)
	}
	q.definition = defining(asked)
	q.intent = intentOf(asked)
	return q
}

// statement says whether words that ask nothing state something, and are not just words to be looked up.
func statement(list []word) bool {
	for i, w := range list {
		if verbs[w.lower] || i == 0 && (firstPerson[w.lower] || directives[w.lower] || w.lower == "call" || w.lower == "note") {
			return true
		}
	}
	return false
}

// intentOf tells the few questions apart that are about the user, the moment or this model.
func intentOf(list []word) intent {
	own, you := false, false
	var rest []word
	for _, w := range list {
		own = own || firstPerson[w.lower]
		you = you || w.lower == "you" || w.lower == "your" || w.lower == "youre"
		if !stopWords[w.lower] && !knowing[w.lower] {
			rest = append(rest, w)
		}
	}
	var names, times, choices, others int
	for _, w := range rest {
		switch {
		case nameWords[w.term]:
			names++
		case timeWords[w.term]:
			if ourTime[w.term] {
				times++
			}
		case choiceWords[w.term]:
			choices++
		default:
			others++
		}
	}
	like := slices.ContainsFunc(list, func(w word) bool { return w.lower == "like" })
	switch {
	case own && names > 0 && others == 0 && times == 0, own && asksWho(list) && len(rest) == 0:
		return wantsName
	case times > 0 && others == 0 && names == 0 && choices == 0:
		return wantsTime
	case own && (choices > 0 || like) && others <= 2, hasPair(list, "about", "me"):
		return wantsPreference
	case you && (len(rest) == 0 || len(rest) == 1 && (aboutWords[rest[0].lower] || nameWords[rest[0].term])) && !own:
		return wantsAbout
	case own && hasWord(list, "my") && !hasWord(list, "should"):
		return wantsPreference // something of the user's, looked for in what is known about them before all else
	}
	return wantsPassage
}

func asksWho(list []word) bool {
	return hasPair(list, "who", "am") || hasPair(list, "who", "i")
}

// maxGroups is how many different words of a question count. A message with more is a text, not a question.
const maxGroups = 64

// groups are the words of a question that decide, each once.
func groups(list []word) []group {
	var out []group
	seen := map[string]bool{}
	for _, w := range list {
		if stopWords[w.lower] || seen[w.term] || len(w.lower) == 1 && w.lower[0] < 0x80 && !wordDigit(w.lower) {
			continue
		}
		if len(out) == maxGroups {
			break
		}
		seen[w.term] = true
		g := group{word: w, weight: 1}
		switch {
		case w.identifier:
			g.weight = 1.6
		case weakWords[w.term]:
			g.weight = 0.5
		}
		out = append(out, g)
	}
	return out
}

func wordDigit(s string) bool { return s[0] >= '0' && s[0] <= '9' }

// defining says whether a question begins like "what is …" or asks for a meaning.
func defining(list []word) bool {
	list = content(list, greetings)
	if len(list) < 2 {
		return false
	}
	first, second := list[0].lower, list[1].lower
	return (first == "what" || first == "who") && (second == "is" || second == "are") ||
		first == "whats" || first == "define" || hasWord(list, "mean") || first == "explain"
}

// content is a list without its first words as far as they are in a set.
func content(list []word, leading map[string]bool) []word {
	for len(list) > 0 && leading[list[0].lower] {
		list = list[1:]
	}
	return list
}

func only(list []word, allowed map[string]bool) bool {
	for _, w := range list {
		if !allowed[w.lower] {
			return false
		}
	}
	return len(list) > 0
}

func hasWord(list []word, lower string) bool {
	return slices.ContainsFunc(list, func(w word) bool { return w.lower == lower })
}

func hasPair(list []word, first, second string) bool {
	for i := 1; i < len(list); i++ {
		if list[i-1].lower == first && list[i].lower == second {
			return true
		}
	}
	return false
}
