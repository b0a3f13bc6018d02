package offline

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// What is said where nothing is quoted.
const (
	about = "I am the offline model: no network, no weights. I answer by quoting the sentences of my context that fit a " +
		"question best."
	noted      = "Noted. I am the offline model, though: I only quote what stands in my context."
	nothing    = "Nothing in my context answers that."
	noContext  = nothing + " There is none: no instructions, no messages but yours."
	noQuestion = "There is no question to answer: no user message has a text."
	noWords    = "There is no word in that question that I could look for in my context."
)

// maxSources bounds how many sources an answer lists where nothing fits.
const maxSources = 8

// answer is the answer to a request; where ctx ended it is of no use.
func (c *Client) answer(ctx context.Context, r *reading) string {
	if !r.asked {
		return noQuestion
	}
	q := ask(r.question)
	switch q.intent {
	case wantsGreeting:
		return "Hello. " + about
	case wantsThanks:
		return "You are welcome."
	case wantsAbout:
		return about
	case wantsNothing:
		return noted
	case wantsName:
		if f, ok := userName(r); ok {
			return "Your name is " + f.text + ". — " + f.passage.cite()
		}
		q.groups = groups(words("name"))
		if quotes := c.personal(ctx, r, q); quotes != "" {
			return quotes
		}
		return unanswered(r)
	case wantsTime:
		if f, ok := timeNow(r, words(r.question)); ok {
			return quoted(c.shortened(f.text)) + " — " + f.passage.cite()
		}
		return unanswered(r)
	case wantsPreference:
		if quotes := c.personal(ctx, r, q); quotes != "" {
			return quotes
		}
	}
	if len(q.groups) == 0 {
		return noWords
	}
	if chosen := rank(q, candidates(ctx, r, nil)).choose(c.maxSentences, c.maxLength); len(chosen) > 0 {
		return c.quote(chosen)
	}
	return unanswered(r)
}

// personal answers from sentences about the user alone. All words of preference count as one.
func (c *Client) personal(ctx context.Context, r *reading, q question) string {
	list := candidates(ctx, r, personal)
	for _, one := range list {
		one.directed = true // it is about the user, so telling the model what to do makes it no worse
		for _, w := range one.words {
			if choiceWords[w.term] {
				one.terms["prefer"] = whole
			}
		}
	}
	preferred := question{}
	for _, g := range q.groups {
		if !choiceWords[g.word.term] && !knowing[g.word.lower] {
			preferred.groups = append(preferred.groups, g)
		}
	}
	if slices.ContainsFunc(words(r.question), func(w word) bool { return choiceWords[w.term] }) {
		preferred.groups = append(preferred.groups, group{word: word{lower: "prefer", term: "prefer"}, weight: 1})
	}
	if len(preferred.groups) == 0 { // what is known about me
		preferred.groups = []group{{word: word{lower: "user", term: "user"}, weight: 1}}
		for _, one := range list {
			one.terms["user"] = whole
		}
	}
	if chosen := rank(preferred, list).choose(c.maxSentences, c.maxLength); len(chosen) > 0 {
		return c.quote(chosen)
	}
	return ""
}

// quote puts quotes together: a line per passage, in the order of the best sentence of each.
func (c *Client) quote(chosen []*candidate) string {
	var lines []string
	done := map[*passage]bool{}
	for _, first := range chosen {
		p := first.passage
		if done[p] {
			continue
		}
		done[p] = true
		var same []*candidate
		for _, one := range chosen {
			if one.passage == p {
				same = append(same, one)
			}
		}
		slices.SortFunc(same, func(a, b *candidate) int { return cmp.Compare(a.index, b.index) })
		var b strings.Builder
		for i, one := range same {
			switch {
			case i == 0:
			case one.index == same[i-1].index+1 && one.form == prose:
				b.WriteByte(' ')
			case one.index == same[i-1].index+1:
				b.WriteString(between(same[i-1]))
			default:
				b.WriteString(" … ")
			}
			b.WriteString(c.shortened(one.text))
		}
		lines = append(lines, quoted(b.String())+" — "+p.cite())
	}
	return strings.Join(lines, "\n")
}

// between is what stands between a sentence and the list item that follows it.
func between(before *candidate) string {
	if last := before.text[len(before.text)-1]; before.form == prose || strings.IndexByte(".;:,!?", last) >= 0 {
		return " "
	}
	return "; "
}

func quoted(text string) string { return "“" + text + "”" }

// shortened cuts a sentence that is longer than all quotes together may be.
func (c *Client) shortened(text string) string { return shortenedTo(text, c.maxLength) }

// shortenedTo cuts a text to so many characters, at a word where one ends near by.
func shortenedTo(text string, length int) string {
	runes := []rune(text)
	if len(runes) <= length {
		return text
	}
	cutAt := length
	for i := cutAt; i > cutAt*3/4; i-- {
		if unicode.IsSpace(runes[i]) {
			cutAt = i
			break
		}
	}
	return strings.TrimSpace(string(runes[:cutAt])) + "…"
}

// unanswered says plainly that nothing fits, and where it was looked for.
func unanswered(r *reading) string {
	if len(r.sources) == 0 {
		return noContext
	}
	var names []string
	for i, s := range r.sources {
		if i == maxSources {
			names = append(names, fmt.Sprintf("%d more", len(r.sources)-maxSources))
			break
		}
		switch s.messages {
		case 0:
			names = append(names, s.source)
		case 1:
			names = append(names, s.source+" (1 message)")
		default:
			names = append(names, fmt.Sprintf("%s (%d messages)", s.source, s.messages))
		}
	}
	list := names[len(names)-1]
	if len(names) > 1 {
		list = strings.Join(names[:len(names)-1], ", ") + " and " + list
	}
	return nothing + " I looked at " + list + "."
}
