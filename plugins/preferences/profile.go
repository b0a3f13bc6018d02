package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/weft-run/weft/pdk/go/json"
)

// stateVersion is the version of the state that this plugin writes.
const stateVersion = 1

// profile is what is known about a user: the plugin's state. A slot holds one value, the last that was stated.
type profile struct {
	slots [slotCount]string
	facts []fact // oldest first
}

// slot is something of which everybody has one.
type slot int

const (
	slotName slot = iota
	slotHome
	slotJob
	slotEmployer
	slotCount
)

// slots names the members of the state, and the sentence that each becomes.
var slots = [slotCount]struct{ member, before string }{
	slotName:     {"name", "The user's name is "},
	slotHome:     {"home", "The user lives in "},
	slotJob:      {"job", "The user works as "},
	slotEmployer: {"employer", "The user works "}, // with its preposition: "at", "for"
}

// fact is anything else, as the user's verb and what it is about: "prefers", "short answers".
type fact struct {
	verb, about string
}

// verbRemember marks a fact in words of the user's own, which are quoted.
const verbRemember = "remember"

func (f fact) sentence() string {
	if f.verb == verbRemember {
		return "The user asked to remember: \"" + strings.ReplaceAll(f.about, `"`, "'") + "\"."
	}
	return "The user " + f.verb + " " + f.about + "."
}

// instructions says what is known, one sentence each.
func (p *profile) instructions() []string {
	var all []string
	for i, value := range p.slots {
		if value != "" {
			all = append(all, slots[i].before+value+".")
		}
	}
	for _, f := range p.facts {
		all = append(all, f.sentence())
	}
	return all
}

// apply takes one statement in.
func (p *profile) apply(s statement) {
	switch s.kind {
	case stateSlot:
		p.slots[s.slot] = s.value
	case stateFact:
		// One thing is liked or hated, not both: the newer statement takes the place of the older.
		p.facts = slices.DeleteFunc(p.facts, func(f fact) bool { return strings.EqualFold(f.about, s.value) })
		p.facts = append(p.facts, fact{verb: s.verb, about: s.value})
	case forgetSlot:
		p.slots[s.slot] = ""
	case forgetFact:
		p.forget(s.value)
	case forgetAll:
		*p = profile{}
	}
}

// forget drops what mentions the words.
func (p *profile) forget(words string) {
	mentions := func(text string) bool { return containsWords(text, words) }
	p.facts = slices.DeleteFunc(p.facts, func(f fact) bool { return mentions(f.about) || mentions(f.sentence()) })
	for i, value := range p.slots {
		if mentions(value) {
			p.slots[i] = ""
		}
	}
}

// bound drops the oldest facts beyond a number.
func (p *profile) bound(facts int) {
	if extra := len(p.facts) - facts; extra > 0 {
		p.facts = slices.Delete(p.facts, 0, extra)
	}
}

// containsWords reports whether words stand in text, as whole words and in any case.
func containsWords(text, words string) bool {
	return strings.Contains(" "+bare(text)+" ", " "+bare(words)+" ")
}

// bare is text in lower case with one space in place of all that is neither letter nor digit.
func bare(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), isSeparator), " ")
}

func (p *profile) WriteJSON(w *json.Writer) {
	w.Object(func() {
		w.Name("version").Int(stateVersion)
		for i, value := range p.slots {
			if value != "" {
				w.Name(slots[i].member).String(value)
			}
		}
		if len(p.facts) > 0 {
			w.Name("facts").Array(func() {
				for _, f := range p.facts {
					w.Object(func() {
						w.Name("verb").String(f.verb)
						w.Name("about").String(f.about)
					})
				}
			})
		}
	})
}

func (p *profile) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "version":
			if version := r.Int(); version != stateVersion {
				r.Fail("version 1 was wanted, and " + strconv.Itoa(version) +
					" is there; a newer preferences.wasm wrote it: use that one, or begin a new session")
			}
		case "facts":
			for range r.Array() {
				var f fact
				for name := range r.Object() {
					switch name {
					case "verb":
						f.verb = r.String()
					case "about":
						f.about = r.String()
					}
				}
				p.facts = append(p.facts, f)
			}
		default:
			for i := range slots {
				if name == slots[i].member {
					p.slots[i] = r.String()
				}
			}
		}
	}
}
