package offline

import "strings"

func set(lists ...string) map[string]bool {
	out := map[string]bool{}
	for _, list := range lists {
		for _, w := range strings.Fields(list) {
			out[w] = true
		}
	}
	return out
}

var (
	// stopWords say nothing about what a question is after.
	stopWords = set(
		`a an the this that these those there here it its they them their theirs he she him her his hers we us our ours`,
		`i me my mine you your yours im ive id youre its thats whats whos lets`,
		`what which who whom whose when where why how whether`,
		`is are was were be been being am do does did doing done has have had having can could will would shall should may`,
		`might must isnt arent doesnt dont didnt cant wont`,
		`of in on at to from by for with about into onto over under as than then so if but and or nor not no yes`,
		`any some all each every many much more most other such only also just even very too please`,
		`tell show explain describe list give say says said quote find define know anything something somebody`,
		`hello hi hey ok okay well now again still exactly actually really kind sort like vs e.g i.e etc let`,
	)

	// weakWords say little: a question is seldom decided by them.
	weakWords = terms(
		`get do happen mean work use need make go come take look see contain hold way thing difference between before after`,
		`during while back possible allow purpose role example called exist available new one two long large big small high fast often far`,
	)

	// questionWords begin a question, also one without a question mark.
	questionWords = set(
		`what which who whom whose when where why how whats whos is are was were do does did can could will would shall`,
		`should may has have am isnt arent doesnt dont`,
	)

	// requestWords begin a wish to be told something.
	requestWords = set(`tell show explain describe list give quote find define compare summarise summarize name write translate calculate compute count`)

	// verbs tell a statement from a few words to be looked up.
	verbs = set(`is are was were am has have had like likes love loves prefer prefers want wants need needs live lives work works will`)

	greetings = set(`hello hi hey good morning afternoon evening day greetings there everyone weft ciao hallo servus moin`)
	thanks    = set(`thanks thank you very much many a lot so cheers great ok okay fine nice good bye goodbye`)

	// directives begin an instruction to the model, which answers nobody's question.
	directives = set(
		`answer reply respond say be use never always keep write speak cite quote do dont only you your if when prefer avoid`,
		`act behave follow ask remember stay explain tell mention please`,
	)

	// choiceWords are about what somebody prefers; prefer stands for all of them.
	choiceWords = terms(`prefer prefers preference favourite favorite like love enjoy want`)

	// synonyms: a term stands in for the others of its class, for a little less than the term itself.
	synonyms = classes(
		`receive get accept given`,
		`return output give respond`,
		`start begin launch`,
		`stop end finish terminate`,
		`delete remove drop`,
		`fail failure error fault`,
		`config configuration configure setting`,
		`limit bound maximum max`,
		`permission grant allow permit`,
		`run execute`,
		`create make`,
		`write author`,
		`folder directory`,
		`save store persist`,
	)
)

// terms are the stems of a list of words.
func terms(lists ...string) map[string]bool {
	out := map[string]bool{}
	for _, list := range lists {
		for _, w := range strings.Fields(list) {
			out[stem(w)] = true
		}
	}
	return out
}

// classes maps each stem to the others of its class.
func classes(lists ...string) map[string][]string {
	out := map[string][]string{}
	for _, list := range lists {
		all := strings.Fields(list)
		for i, w := range all {
			for j, other := range all {
				if i != j {
					out[stem(w)] = append(out[stem(w)], stem(other))
				}
			}
		}
	}
	return out
}
