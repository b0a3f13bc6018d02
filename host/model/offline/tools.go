package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-run/weft/host"
)

// tool is an offered tool, as a question is held against it.
type tool struct {
	name, description string
	parameters        host.Schema // nil for an open object
}

// toolsOf are the tools of a request that have a name. Of two with the same name the first counts.
func toolsOf(request *host.ChatRequest) []*tool {
	var out []*tool
	for _, offered := range request.Tools {
		if offered.Tool == nil {
			continue
		}
		d := offered.Definition()
		if d.Name != "" && !slices.ContainsFunc(out, func(t *tool) bool { return t.name == d.Name }) {
			out = append(out, &tool{name: d.Name, description: d.Description, parameters: d.Parameters})
		}
	}
	return out
}

// wish is a tool to be called, and where in the question its arguments stand.
type wish struct {
	tool *tool
	// name is where the question first names the tool.
	name span
	// keys is where arguments may stand with their names; values, where they may also stand without.
	keys, values span
}

// wishes are the tools that a request wants called, in the order in which the question names them. A text in their place
// says why there are none although one must be called.
func wishes(request *host.ChatRequest, question string) ([]wish, string) {
	choice, tools := request.Options.ToolChoice, toolsOf(request)
	if choice.Mode == host.ToolChoiceNone || len(tools) == 0 {
		return nil, ""
	}
	if choice.Function != "" {
		i := slices.IndexFunc(tools, func(t *tool) bool { return t.name == choice.Function })
		if i < 0 {
			return nil, fmt.Sprintf("I am to call %s, and it is not among the tools that I am offered.", choice.Function)
		}
		tools = tools[i : i+1]
	}
	list := named(question, tools)
	if len(list) == 0 && (choice.Mode == host.ToolChoiceRequired || choice.Function != "") {
		all := span{0, len(question)}
		list = []wish{{tool: fitting(question, tools), keys: all, values: all}}
	}
	return list, ""
}

// maxCalls is how many calls a reply has at most; what a question names behind them is passed over.
const maxCalls = 32

// named are the tools that a question names. Where it names one twice with no other between, that is one wish, and what
// stands behind the second name are its arguments.
func named(question string, tools []*tool) []wish {
	type mention struct {
		span
		tool *tool
	}
	var all []mention
	quotes := quotations(question)
	for _, t := range tools {
		for _, at := range find(question, t.name) {
			q, inside := holding(quotes, at) // a name in quotes is one, a sentence in quotes with it is a value
			if (!inside || q.inner == at) && !strings.HasSuffix(question[:at.from], "=") {
				all = append(all, mention{at, t})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b mention) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to))
	})
	var out []wish
	end := 0
	for _, m := range all {
		if m.from < end { // weather inside of get_weather
			continue
		}
		end = m.to
		if n := len(out); n > 0 && out[n-1].tool == m.tool {
			out[n-1].values.from = m.to
			continue
		} else if n > 0 {
			out[n-1].keys.to, out[n-1].values.to = m.from, m.from
		}
		if len(out) == maxCalls {
			break
		}
		w := wish{tool: m.tool, name: m.span, keys: span{m.to, len(question)}, values: span{m.to, len(question)}}
		if len(out) == 0 {
			w.keys.from = 0
		}
		out = append(out, w)
	}
	return out
}

// fitting is the tool whose name and description share most with a question; the first where none shares anything.
func fitting(question string, tools []*tool) *tool {
	best, bestScore := tools[0], 0.0
	for _, t := range tools {
		terms, score := termsOf(words(t.name+" "+t.description)), 0.0
		for _, g := range groups(words(question)) {
			score += g.weight * hit(g.word, terms)
		}
		if score > bestScore {
			best, bestScore = t, score
		}
	}
	return best
}
