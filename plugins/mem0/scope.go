package main

import (
	"strconv"
	"strings"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
	"github.com/weft-run/weft/pdk/go/web"
)

// The ids by which Mem0 keeps memories apart.
const (
	idUser = iota
	idAgent
	idApp
	idRun
	idCount
)

var idNames = [idCount]string{"user_id", "agent_id", "app_id", "run_id"}

// scope is whose memories those of one run are. An empty id is none.
type scope [idCount]string

// fromRun are the names that stand in the config for what only the run knows.
var fromRun = []struct {
	name, what string
	value      func(run *pdk.Run) string
}{
	{"{session_id}", "session", func(run *pdk.Run) string { return run.SessionID }},
	{"{service_session_id}", "session of a service", func(run *pdk.Run) string { return run.ServiceSessionID }},
	{"{agent}", "agent with a name", func(run *pdk.Run) string { return run.Agent }},
}

// scope puts in what the config leaves to the run. An id that would be empty, or stand for everybody's memories, is an
// error: else one user would be told what another one said.
func (c *config) scope(run pdk.Run) (scope, error) {
	var s scope
	wrong := func(i int, reason string) error {
		return pdk.NewError(pdk.CodeInvalidInput, "config: "+idNames[i]+" "+reason)
	}
	for i, id := range c.ids {
		var values []string
		for _, f := range fromRun {
			value := f.value(&run)
			if value == "" && strings.Contains(id, f.name) {
				return s, wrong(i, "names "+f.name+", and this run has no "+f.what)
			}
			values = append(values, f.name, value)
		}
		id = strings.NewReplacer(values...).Replace(id)
		if strings.Contains(id, "*") || web.Line(id, len(id)) != id {
			return s, wrong(i, "is "+strconv.Quote(web.Line(id, 60))+
				", which is no id: it may have no asterisk, and no character that is not seen")
		}
		s[i] = id
	}
	return s, nil
}

// unknownName is what stands in braces in an id and is not known; empty where there is nothing of the kind.
func unknownName(id string) string {
	for _, f := range fromRun {
		id = strings.ReplaceAll(id, f.name, "")
	}
	if at := strings.IndexAny(id, "{}"); at >= 0 {
		return web.Line(id[at:], 40)
	}
	return ""
}

// partitions are the filters of the searches. Mem0 keeps what it knows of a user apart from what it knows of an agent, so
// that a search for both finds nothing: each has a search of its own, narrowed by the other ids.
func (s scope) partitions() []json.Raw {
	var all []json.Raw
	for _, owner := range []int{idUser, idAgent} {
		if s[owner] != "" {
			all = append(all, s.filter(owner, idApp, idRun))
		}
	}
	if all == nil {
		all = append(all, s.filter(idApp, idRun))
	}
	return all
}

// filter asks for memories that have all of these ids.
func (s scope) filter(ids ...int) json.Raw {
	var w json.Writer
	w.Object(func() {
		w.Name("AND").Array(func() {
			for _, i := range ids {
				if s[i] != "" {
					w.Object(func() { w.Name(idNames[i]).String(s[i]) })
				}
			}
		})
	})
	return w.JSON()
}
